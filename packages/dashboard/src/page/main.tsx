import { type JSX, render } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { App } from './app.tsx'
import { browserClock, browserFetch, readTheme, writeTheme } from './browser.ts'
import { AccessDecisions } from './data/access.ts'
import { DashboardApi, messageOf } from './data/api.ts'
import { LiveRows } from './data/live-rows.ts'
import type { AboutServer } from './data/rows.ts'
import { Ticker } from './logic/ticker.ts'
import { Navigation } from './parts/navigation.ts'
import { Notices } from './parts/notices.tsx'
import { type PageServices, Services } from './parts/services.ts'
import { StateCard } from './parts/states.tsx'
import { SignIn } from './views/sign-in.tsx'

/** Milliseconds between tries to reach the server at first. */
const FIRST_CONTACT_MS = 1_000

type BaseServices = Omit<PageServices, 'about'>

function createServices(): BaseServices {
  const clock = browserClock
  const api = new DashboardApi(browserFetch)
  return {
    api,
    clock,
    live: new LiveRows({ api, clock }),
    access: new AccessDecisions(api, clock),
    ticker: new Ticker(clock),
    navigation: new Navigation(),
    notices: new Notices(clock),
    grid: undefined,
    reload: undefined,
  }
}

/** Signs in if the server asks for it, and then shows the page. */
function Root({ base }: { readonly base: BaseServices }): JSX.Element {
  const [about, setAbout] = useState<AboutServer>()
  const [problem, setProblem] = useState<string>()
  const [isSignedIn, setSignedIn] = useState(false)
  const { access, api, live } = base

  useEffect(() => {
    const read = async (): Promise<void> => {
      try {
        const next = await api.json<AboutServer>('./api/v1/about')
        live.offer(next.views.map(({ name }) => name))
        access.isOpen = next.authentication === 'none'
        setProblem(undefined)
        setAbout(next)
        if (access.isOpen) live.start()
      } catch (error) {
        setProblem(messageOf(error))
        base.clock.setTimer(FIRST_CONTACT_MS, () => void read())
      }
    }
    api.onUnauthorized = () => {
      live.stop()
      setProblem('The server does not accept this token, or not any more.')
      setSignedIn(false)
    }
    void read()
  }, [])

  const services = useMemo(() => about && Object.assign(base, { about }), [about])
  if (!services) {
    if (problem === undefined) return <main id="main" class="first" aria-busy="true" />
    return (
      <main id="main" class="first">
        <h1 class="offscreen">Tenure</h1>
        <StateCard title="Connecting …">{problem} The page tries again by itself.</StateCard>
      </main>
    )
  }
  if (services.about.authentication === 'token' && !isSignedIn) {
    const signIn = (token: string): void => {
      api.token = token
      access.clear()
      setProblem(undefined)
      setSignedIn(true)
      live.restart()
    }
    return <SignIn problem={problem} onSignIn={signIn} />
  }
  const signOut = (): void => {
    live.stop()
    api.token = undefined
    setSignedIn(false)
  }
  return (
    <Services.Provider value={services}>
      <App onSignOut={signOut} />
    </Services.Provider>
  )
}

writeTheme(readTheme())
const root = document.querySelector('#root')
if (root) render(<Root base={createServices()} />, root)
