import type { ComponentChildren, JSX } from 'preact'
import { useEffect } from 'preact/hooks'

interface ViewHeadProps {
  readonly title: string
  readonly note?: ComponentChildren
  readonly actions?: ComponentChildren
  /** Where the view belongs, as links. */
  readonly crumbs?: readonly (readonly [text: string, href: string])[]
}

/** The heading of a view; it also names the tab. */
export function ViewHead({ title, note, actions, crumbs = [] }: ViewHeadProps): JSX.Element {
  useEffect(() => {
    document.title = `${title} · Tenure`
  }, [title])
  return (
    <header class="view-head">
      <div class="view-title">
        {crumbs.length > 0 && (
          <nav aria-label="Breadcrumb" class="crumbs">
            {crumbs.map(([text, href]) => (
              <span key={href}>
                <a href={href}>{text}</a> <span aria-hidden="true">/</span>{' '}
              </span>
            ))}
          </nav>
        )}
        <h1 tabIndex={-1}>{title}</h1>
        {note !== undefined && <p class="view-note">{note}</p>}
      </div>
      {actions !== undefined && <div class="actions">{actions}</div>}
    </header>
  )
}
