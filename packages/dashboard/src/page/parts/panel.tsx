import type { ComponentChildren, JSX } from 'preact'
import { copyText } from '../browser.ts'
import { useServices } from './services.ts'

interface PanelProps {
  readonly title: string
  readonly subtitle?: ComponentChildren
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** Details of one row, beside the list. */
export function Panel({ title, subtitle, onClose, children }: PanelProps): JSX.Element {
  return (
    <section class="panel" aria-label={title}>
      <header class="panel-head">
        <div class="panel-title">
          <h2 title={title}>{title}</h2>
          {subtitle !== undefined && <div class="muted">{subtitle}</div>}
        </div>
        <button type="button" class="quiet" aria-label="Close details" onClick={onClose}>
          ×
        </button>
      </header>
      {children}
    </section>
  )
}

type Fact = readonly [term: string, value: ComponentChildren]

/** Terms with values. Values that are undefined are left out. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }): JSX.Element {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== undefined && value !== '')
        .map(([term, value]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}

interface CopyButtonProps {
  readonly text: string
  readonly label: string
  /** Names what is copied in the notice. */
  readonly what: string
}

export function CopyButton({ text, label, what }: CopyButtonProps): JSX.Element {
  const { notices } = useServices()
  const copy = async (): Promise<void> => {
    const isCopied = await copyText(text)
    notices.show(isCopied ? 'done' : 'failed', isCopied ? `Copied ${what}.` : 'The browser does not allow copying.')
  }
  return (
    <button type="button" class="small" onClick={() => void copy()}>
      {label}
    </button>
  )
}

interface SectionProps {
  readonly title: string
  readonly children: ComponentChildren
  readonly aside?: ComponentChildren
  readonly class?: string
}

export function Section({ title, children, aside, class: name = '' }: SectionProps): JSX.Element {
  return (
    <section class={`section ${name}`} aria-label={title}>
      <header class="section-head">
        <h2>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  )
}
