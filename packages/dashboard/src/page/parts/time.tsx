import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { absoluteText, ageText, countdownText, urgencyOf } from '../logic/time.ts'
import { useServices } from './services.ts'

interface LiveTimeProps {
  readonly at: number | undefined
  readonly class?: string
  readonly text: (at: number, now: number) => string
  readonly state?: (at: number, now: number) => string
}

/** A time whose text changes by itself: the clock writes into the element and draws nothing else again. */
function LiveTime({ at, class: name = '', text, state }: LiveTimeProps): JSX.Element {
  const { clock, ticker } = useServices()
  const element = useRef<HTMLTimeElement>(null)
  useEffect(() => {
    if (at === undefined) return undefined
    const update = (now: number): void => {
      const { current } = element
      if (!current) return
      const next = text(at, now)
      if (current.textContent !== next) current.textContent = next
      const className = `time ${name} ${state?.(at, now) ?? ''}`.trimEnd()
      if (current.className !== className) current.className = className
    }
    update(clock.now())
    return ticker.subscribe(update)
  }, [at, name])
  if (at === undefined) return <span class="muted">–</span>
  // The text is left to the clock: drawing the component again does not touch it.
  return <time ref={element} class={`time ${name}`} dateTime={isoText(at)} title={absoluteText(at)} />
}

/** The time until something ends. */
export function Countdown({ at }: { readonly at: number | undefined }): JSX.Element {
  return <LiveTime at={at} class="countdown" text={countdownText} state={urgencyOf} />
}

/** When something happens next, in a sentence: `in 30s`, `now`. */
export function In({ at }: { readonly at: number | undefined }): JSX.Element {
  return <LiveTime at={at} text={(time, now) => (time <= now ? 'now' : `in ${countdownText(time, now)}`)} />
}

/** The time since something happened: `5m`. */
export function Age({ at }: { readonly at: number | undefined }): JSX.Element {
  return <LiveTime at={at} text={ageText} />
}

/** The time since something happened, in a sentence: `5m ago`. */
export function Ago({ at }: { readonly at: number | undefined }): JSX.Element {
  return <LiveTime at={at} text={(time, now) => `${ageText(time, now)} ago`} />
}

function isoText(at: number): string {
  return Number.isFinite(at) ? new Date(at).toISOString() : ''
}
