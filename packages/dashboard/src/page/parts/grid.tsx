import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { PageRow } from '../data/rows.ts'
import { parseSort } from '../logic/route.ts'
import type { SortKey } from '../logic/table-query.ts'
import { scrollToRow, visibleRange, type VisibleRange } from '../logic/visible-range.ts'
import { useServices } from './services.ts'

export interface GridColumn<R> {
  /** Names the column in the URL. */
  readonly key: string
  readonly title: string
  /** Width as in `grid-template-columns`. */
  readonly width: string
  readonly cell: (row: R) => ComponentChildren
  /** Default: the column cannot be sorted. */
  readonly sort?: (row: R) => SortKey
  /** Place on a narrow screen, where rows have two lines. Default: the column is left out there. */
  readonly narrow?: 'name' | 'state' | 'about' | 'end'
  readonly isNumeric?: boolean
  /** Whether the column makes room for a panel beside the list. Default: false. */
  readonly isHiddenByPanel?: boolean
}

interface GridProps<R> {
  /** Names the list to screen readers. */
  readonly label: string
  readonly columns: readonly GridColumn<R>[]
  readonly rows: readonly R[]
  /** The sort order of the URL: `name` or `-name`. */
  readonly sort: string
  readonly onSort: (sort: string) => void
  /** The hash of the page or panel of a row. */
  readonly rowHref: (row: R) => string
  readonly selectedId?: string | undefined
  /** Shown without rows. */
  readonly empty: ComponentChildren
}

const ROW_HEIGHT = 34
/** Two lines. */
const NARROW_ROW_HEIGHT = 58
const NARROW = matchMedia('(max-width: 720px)')
/** Pixels at the top of the screen that sticky headers cover. */
const HEADER_INSET = 34
const NARROW_HEADER_INSET = 96

/**
 * A list of any length: only the rows near the screen are in the document. It scrolls with the page. Rows take the focus
 * one at a time and follow the arrow keys.
 */
export function Grid<R extends PageRow>(props: GridProps<R>): JSX.Element {
  const { label, columns, rows, sort, onSort, rowHref, selectedId, empty } = props
  const services = useServices()
  const body = useRef<HTMLDivElement>(null)
  const [active, setActive] = useState<string | undefined>(selectedId)
  const mustFocus = useRef(false)
  const isNarrow = useNarrow()
  const rowHeight = isNarrow ? NARROW_ROW_HEIGHT : ROW_HEIGHT
  const range = useVisibleRange(body, rowHeight, rows.length)

  const found = active === undefined ? -1 : rows.findIndex(({ id }) => id === active)
  const activeIndex = found < 0 ? 0 : found

  const move = (to: number): void => {
    const index = Math.max(0, Math.min(rows.length - 1, to))
    const row = rows[index]
    if (!row || !body.current) return
    const inset = isNarrow ? NARROW_HEADER_INSET : HEADER_INSET
    const geometry = {
      top: -body.current.getBoundingClientRect().top,
      height: innerHeight,
      rowHeight,
      count: rows.length,
    }
    const distance = scrollToRow(index, geometry, inset)
    if (distance !== 0) scrollBy(0, distance)
    mustFocus.current = true
    setActive(row.id)
  }
  const handle = useRef({ move: (_by: number): void => undefined })
  handle.current.move = (by) => move(found < 0 ? 0 : found + by)

  useLayoutEffect(() => {
    const grid = handle.current
    services.grid = grid
    return () => {
      if (services.grid === grid) services.grid = undefined
    }
  }, [])

  useEffect(() => {
    if (!mustFocus.current) return
    const row = body.current?.querySelector<HTMLElement>(`[data-index="${activeIndex}"]`)
    if (!row) return
    mustFocus.current = false
    row.focus({ preventScroll: true })
  })

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const page = Math.max(1, Math.floor(innerHeight / rowHeight) - 2)
    const targets: Readonly<Record<string, number>> = {
      Home: 0,
      End: rows.length - 1,
      PageDown: activeIndex + page,
      PageUp: activeIndex - page,
    }
    const target = targets[event.key]
    if (target !== undefined) {
      event.preventDefault()
      move(target)
    } else if (event.key === 'Enter' && event.target instanceof HTMLElement && event.target.role === 'row') {
      const row = rows[Number(event.target.dataset['index'])]
      if (row) services.navigation.go(rowHref(row))
    }
  }

  const template = columns.map(({ width }) => width).join(' ')
  // Keyboard users must reach the list even if its active row is not drawn now.
  const focusable = activeIndex >= range.first && activeIndex < range.end ? activeIndex : range.first
  return (
    <div
      class="grid"
      role="grid"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-colcount={columns.length}
      style={{ '--columns': template, '--row-height': `${rowHeight}px` }}
      onKeyDown={onKeyDown}
    >
      <div class="grid-head" role="rowgroup">
        <div class="grid-row" role="row" aria-rowindex={1}>
          {columns.map((column, index) => (
            <ColumnHead key={column.key} column={column} index={index} sort={sort} onSort={onSort} />
          ))}
        </div>
      </div>
      <div class="grid-body" role="rowgroup" ref={body} style={{ height: `${rows.length * rowHeight}px` }}>
        {rows.slice(range.first, range.end).map((row, offset) => {
          const index = range.first + offset
          return (
            <div
              // By place and not by row: another filter or order then changes texts, and makes no new elements.
              key={index}
              class={`grid-row ${row.id === selectedId ? 'selected' : ''}`}
              role="row"
              aria-rowindex={index + 2}
              aria-selected={row.id === selectedId}
              data-index={index}
              data-id={row.id}
              tabIndex={index === focusable ? 0 : -1}
              style={{ transform: `translateY(${index * rowHeight}px)` }}
              onFocus={() => setActive(row.id)}
              onClick={(event) => {
                const { target } = event
                const isControl = target instanceof Element && target.closest('a, button') !== null
                if (!isControl && String(getSelection()) === '') services.navigation.go(rowHref(row))
              }}
            >
              {columns.map((column, columnIndex) => (
                <div
                  key={column.key}
                  role="gridcell"
                  aria-colindex={columnIndex + 1}
                  class={`cell ${column.isNumeric ? 'numeric' : ''} ${column.narrow ? `at-${column.narrow}` : 'wide-only'}`}
                >
                  {column.cell(row)}
                </div>
              ))}
            </div>
          )
        })}
      </div>
      {rows.length === 0 && (
        <div role="rowgroup">
          <div role="row">
            <div role="gridcell" class="grid-empty">
              {empty}
            </div>
          </div>
        </div>
      )}
    </div>
  )
}

interface ColumnHeadProps<R> {
  readonly column: GridColumn<R>
  readonly index: number
  readonly sort: string
  readonly onSort: (sort: string) => void
}

function ColumnHead<R>({ column, index, sort, onSort }: ColumnHeadProps<R>): JSX.Element {
  const { key, title, isNumeric } = column
  const order = parseSort(sort, '')
  const isSorted = order.sort === key
  const direction = order.isDescending ? 'descending' : 'ascending'
  const className = `cell ${isNumeric ? 'numeric' : ''}`
  if (!column.sort) {
    return (
      <div role="columnheader" aria-colindex={index + 1} class={className}>
        {title}
      </div>
    )
  }
  return (
    <div role="columnheader" aria-colindex={index + 1} class={className} aria-sort={isSorted ? direction : 'none'}>
      <button type="button" class="sort" onClick={() => onSort(isSorted && !order.isDescending ? `-${key}` : key)}>
        {title}
        <span aria-hidden="true" class="arrow">
          {isSorted ? (order.isDescending ? '↓' : '↑') : ''}
        </span>
      </button>
    </div>
  )
}

/** A link in the first cell of a row. The row itself takes the focus, so that Tab does not stop twice. */
export function RowLink({ href, text }: { readonly href: string; readonly text: string }): JSX.Element {
  return (
    <a href={href} tabIndex={-1} class="row-link" title={text}>
      {text}
    </a>
  )
}

function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(NARROW.matches)
  useEffect(() => {
    const update = (): void => setNarrow(NARROW.matches)
    NARROW.addEventListener('change', update)
    return () => NARROW.removeEventListener('change', update)
  }, [])
  return isNarrow
}

function useVisibleRange(
  body: { readonly current: HTMLElement | null },
  rowHeight: number,
  count: number,
): VisibleRange {
  const measure = (): VisibleRange => {
    const top = body.current ? -body.current.getBoundingClientRect().top : 0
    return visibleRange({ top, height: innerHeight, rowHeight, count })
  }
  const [, draw] = useState('')
  const range = measure()
  const update = useRef<() => void>(() => undefined)
  update.current = () => {
    const { first, end } = measure()
    draw(`${first} ${end}`)
  }
  useEffect(() => {
    const listener = (): void => update.current()
    addEventListener('scroll', listener, { passive: true })
    addEventListener('resize', listener)
    // Content above the list moves it without a scroll event.
    const observer = new ResizeObserver(listener)
    observer.observe(document.body)
    return () => {
      removeEventListener('scroll', listener)
      removeEventListener('resize', listener)
      observer.disconnect()
    }
  }, [])
  return range
}
