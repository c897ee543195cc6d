import type { JSX } from 'preact'

export type Tone = 'good' | 'wait' | 'bad' | 'calm'

const TONES: Readonly<Record<string, Tone>> = {
  running: 'good',
  ready: 'good',
  active: 'good',
  completed: 'good',
  true: 'good',
  normal: 'calm',
  succeeded: 'calm',
  idle: 'calm',
  paused: 'calm',
  deleted: 'calm',
  pending: 'wait',
  provisioning: 'wait',
  updating: 'wait',
  waiting: 'wait',
  unknown: 'wait',
  warning: 'wait',
  rolled_back: 'wait',
  failed: 'bad',
  failing: 'bad',
  error: 'bad',
  false: 'bad',
}

/** A state in one word. Its colour repeats what the word says. */
export function Badge({ text, tone }: { readonly text: string; readonly tone?: Tone | undefined }): JSX.Element {
  return <span class={`badge ${tone ?? TONES[text.toLowerCase()] ?? 'calm'}`}>{text}</span>
}

/** How many of how many are ready, as numbers and as a bar. */
export function Progress(props: {
  readonly value: number
  readonly of: number
  readonly label: string
  /** A second, paler bar: for example updated replicas. */
  readonly other?: number
}): JSX.Element {
  const { value, of, label, other } = props
  const share = (count: number): string => `${of === 0 ? 0 : Math.min(100, (100 * count) / of)}%`
  return (
    <span class="progress" title={label}>
      <span class="number">
        {value}/{of}
      </span>
      <span class="track" aria-hidden="true">
        {other !== undefined && <span class="other" style={{ width: share(other) }} />}
        <span class={value >= of ? 'full' : 'part'} style={{ width: share(value) }} />
      </span>
    </span>
  )
}
