import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { PageView } from './data/rows.ts'
import { GO_KEYS, type KeyAction, KeySequence } from './logic/key-sequence.ts'
import { formatRoute, type PageRoute } from './logic/route.ts'
import { NoticeList } from './parts/notices.tsx'
import { hasView, type PageServices, useChanges, useServices } from './parts/services.ts'
import { StateCard } from './parts/states.tsx'
import { ThemeButton } from './parts/theme-button.tsx'
import { ViewHead } from './parts/view-head.tsx'
import { ApplicationView } from './views/applications/application.tsx'
import { ApplicationsView } from './views/applications/applications.tsx'
import { ClaimsView } from './views/claims/claims.tsx'
import { ControllersView } from './views/controllers.tsx'
import { DatabaseView } from './views/databases/database.tsx'
import { DatabasesView } from './views/databases/databases.tsx'
import { KeysHelp } from './views/keys-help.tsx'
import { LeasesView } from './views/leases/leases.tsx'
import { ObjectView } from './views/object.tsx'
import { Overview } from './views/overview.tsx'

/** The navigation, with the view of the API that each entry needs. */
const ENTRIES: readonly { readonly key: string; readonly needs: readonly PageView[] }[] = [
  { key: 'o', needs: [] },
  { key: 'a', needs: ['applications'] },
  { key: 'c', needs: ['claims', 'pools'] },
  { key: 'l', needs: ['leases', 'lease-controllers'] },
  { key: 'd', needs: ['databases'] },
  { key: 'k', needs: ['controllers'] },
]

interface AppProps {
  readonly onSignOut: () => void
}

export function App({ onSignOut }: AppProps): JSX.Element {
  const services = useServices()
  const { navigation, notices } = services
  const [isHelpOpen, setHelpOpen] = useState(false)
  useChanges((listener) => navigation.subscribe(listener))
  useKeys((action) => act(action, services, () => setHelpOpen(true)))
  const { route } = navigation
  const main = useRef<HTMLElement>(null)
  useFocusOnView(route, main)
  return (
    <>
      <div class="shell">
        <SideBar
          current={route.path[0] ?? ''}
          onSkip={() => main.current?.focus()}
          onHelp={() => setHelpOpen(true)}
          onSignOut={onSignOut}
        />
        <main id="main" ref={main} tabIndex={-1}>
          <ConnectionBanner />
          {/* Another view starts with closed panels and its own lists. */}
          <CurrentView key={route.path.join('/')} route={route} />
        </main>
      </div>
      <NoticeList notices={notices} />
      {isHelpOpen && <KeysHelp onClose={() => setHelpOpen(false)} />}
    </>
  )
}

function CurrentView({ route }: { readonly route: PageRoute }): JSX.Element {
  const [view = '', first, second, ...others] = route.path
  if (others.length === 0) {
    if (first === undefined) {
      if (view === '') return <Overview route={route} />
      if (view === 'applications') return <ApplicationsView route={route} />
      if (view === 'claims') return <ClaimsView route={route} />
      if (view === 'leases') return <LeasesView route={route} />
      if (view === 'databases') return <DatabasesView route={route} />
      if (view === 'object') {
        // Filters keep their view; another object is another view.
        return <ObjectView key={formatRoute([], route.query)} route={route} />
      }
      if (view === 'controllers') return <ControllersView />
    } else if (view === 'applications' && second !== undefined) {
      return <ApplicationView namespace={first} name={second} />
    } else if (view === 'databases' && second === undefined) return <DatabaseView id={first} />
  }
  return (
    <>
      <ViewHead title="Not found" />
      <StateCard title="The dashboard has no such page">
        <a href={formatRoute([])}>Go to the overview</a>
      </StateCard>
    </>
  )
}

interface SideBarProps {
  readonly current: string
  readonly onSkip: () => void
  readonly onHelp: () => void
  readonly onSignOut: () => void
}

function SideBar({ current, onSkip, onHelp, onSignOut }: SideBarProps): JSX.Element {
  const { about, access } = useServices()
  useChanges((listener) => access.subscribe(listener))
  const entries = ENTRIES.filter(({ needs }) => needs.length === 0 || needs.some((view) => hasView(about, view)))
  const nav = useRef<HTMLElement>(null)
  useEffect(() => {
    // On a narrow screen the entries scroll sideways.
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ inline: 'center', block: 'nearest' })
  }, [current])
  return (
    <header class="side">
      <button type="button" class="skip" onClick={onSkip}>
        Skip to the content
      </button>
      <div class="brand">
        <a href={formatRoute([])} aria-label="Tenure, overview">
          <Mark /> Tenure
        </a>
        <ConnectionDot />
      </div>
      <nav aria-label="Views" ref={nav}>
        <ul>
          {entries.map(({ key }) => {
            const { view, title } = GO_KEYS[key] ?? { view: '', title: '' }
            return (
              <li key={key}>
                <a
                  href={formatRoute(view === '' ? [] : [view])}
                  aria-current={view === current ? 'page' : undefined}
                  aria-keyshortcuts={`g ${key}`}
                  title={`g ${key}`}
                >
                  {title}
                </a>
              </li>
            )
          })}
        </ul>
      </nav>
      <div class="side-foot">
        <ThemeButton />
        <button type="button" class="small" onClick={onHelp} aria-keyshortcuts="?">
          Keys
        </button>
        {about.authentication === 'token' && (
          <button type="button" class="small" onClick={onSignOut} title={access.user && `Signed in as ${access.user}`}>
            Sign out
          </button>
        )}
        <span class="version muted">{about.version}</span>
      </div>
    </header>
  )
}

function Mark(): JSX.Element {
  return (
    <svg class="mark" width="18" height="18" viewBox="0 0 16 16" aria-hidden="true">
      <path d="M3 2h10M3 14h10M4.5 2c0 4 7 4.5 7 6s-7 2-7 6M11.5 2c0 2-1.5 3.2-3.2 4M11.5 14c0-1.6-1-2.6-2.4-3.4" />
    </svg>
  )
}

const CONNECTION_TEXTS = { connecting: 'connecting', live: 'live', reconnecting: 'reconnecting', stopped: 'stopped' }

function ConnectionDot(): JSX.Element {
  const { live } = useServices()
  useChanges((listener) => live.subscribe(listener))
  const text = CONNECTION_TEXTS[live.connection]
  return (
    <span class={`connection ${live.connection}`} title={text}>
      <span class="dot" aria-hidden="true" />
      <span class="connection-text">{text}</span>
    </span>
  )
}

function ConnectionBanner(): JSX.Element {
  const { live } = useServices()
  useChanges((listener) => live.subscribe(listener))
  return (
    <div role="status" class="banner-place">
      {live.connection === 'reconnecting' && (
        <p class="banner">
          <strong>Reconnecting …</strong> What is shown may be out of date. {live.problem}
        </p>
      )}
    </div>
  )
}

/** A new view takes the focus, so that screen readers read its heading and Tab goes on from there. */
function useFocusOnView({ path }: PageRoute, main: { readonly current: HTMLElement | null }): void {
  const place = path.join('/')
  const last = useRef(place)
  useEffect(() => {
    if (last.current === place) return
    last.current = place
    scrollTo(0, 0)
    main.current?.querySelector('h1')?.focus({ preventScroll: true })
  }, [place])
}

function useKeys(act: (action: KeyAction) => boolean): void {
  const { clock } = useServices()
  const current = useRef(act)
  current.current = act
  useEffect(() => {
    const sequence = new KeySequence()
    const listener = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
      if (document.querySelector('dialog[open]')) return
      const isTyping = event.target instanceof Element && event.target.closest('input, textarea, select') !== null
      if (isTyping && event.key !== 'Escape') return
      // Arrows scroll what has the focus, if that is not the list.
      const isElsewhere = event.target instanceof Element && event.target.closest('.panel, pre') !== null
      if (isElsewhere && event.key.startsWith('Arrow')) return
      const action = sequence.press(event.key, clock.now())
      if (action && current.current(action)) event.preventDefault()
    }
    addEventListener('keydown', listener)
    return () => removeEventListener('keydown', listener)
  }, [])
}

/** Returns whether the key was used. */
function act(action: KeyAction, services: PageServices, openHelp: () => void): boolean {
  const { navigation, grid, reload } = services
  switch (action.type) {
    case 'go':
      navigation.go(formatRoute(action.view === '' ? [] : [action.view]))
      return true
    case 'help':
      openHelp()
      return true
    case 'filter': {
      const filter = document.querySelector<HTMLInputElement>('input.filter')
      filter?.focus()
      filter?.select()
      return filter !== null
    }
    case 'move':
      grid?.move(action.by)
      return grid !== undefined
    case 'reload':
      reload?.()
      return reload !== undefined
    default:
      return close(navigation)
  }
}

function close(navigation: PageServices['navigation']): boolean {
  const { activeElement } = document
  if (activeElement instanceof HTMLInputElement && activeElement.classList.contains('filter')) {
    // The first press clears the filter, the second one leaves it.
    if (activeElement.value === '') activeElement.blur()
    else navigation.setQuery({ q: undefined })
    return true
  }
  const { id } = navigation.route.query
  if (id === undefined) return false
  navigation.setQuery({ id: undefined })
  // The row keeps the focus, so that the next key moves on from it.
  document.querySelector<HTMLElement>(`[data-id="${CSS.escape(id)}"]`)?.focus({ preventScroll: true })
  return true
}
