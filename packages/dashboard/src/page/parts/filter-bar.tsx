import type { ComponentChildren, JSX } from 'preact'
import { parseSort } from '../logic/route.ts'
import type { GridColumn } from './grid.tsx'
import { useServices } from './services.ts'

interface FilterBarProps<R> {
  readonly query: Readonly<Record<string, string>>
  /** `1,204 of 30,000`. */
  readonly shown: number
  readonly total: number
  readonly isComplete: boolean
  readonly columns: readonly GridColumn<R>[]
  readonly sort: string
  /** Choices beside the text: a namespace, a pool. */
  readonly children?: ComponentChildren
  /** Actions at the end. */
  readonly actions?: ComponentChildren
}

/** Filter text, choices and sort order of a list, all kept in the URL. */
export function FilterBar<R>(props: FilterBarProps<R>): JSX.Element {
  const { query, shown, total, isComplete, columns, sort, children, actions } = props
  const { navigation } = useServices()
  const { sort: sortKey, isDescending } = parseSort(sort, '')
  return (
    <div class="filter-bar" role="search">
      <input
        type="search"
        class="filter"
        name="q"
        aria-label="Filter"
        aria-keyshortcuts="/"
        placeholder="Filter  ( / )"
        autocomplete="off"
        spellcheck={false}
        value={query['q'] ?? ''}
        onInput={(event) => navigation.setQuery({ q: event.currentTarget.value })}
      />
      {children}
      <span class="narrow-sort">
        <select
          aria-label="Sort by"
          value={sort}
          onChange={(event) => navigation.setQuery({ sort: event.currentTarget.value })}
        >
          {columns
            .filter((column) => column.sort)
            .map(({ key, title }) => {
              const value = key === sortKey && isDescending ? `-${key}` : key
              return (
                <option key={key} value={value}>
                  {title}
                </option>
              )
            })}
        </select>
      </span>
      <span class="count" role="status">
        {shown === total ? number(total) : `${number(shown)} of ${number(total)}`}
        {!isComplete && <span class="muted"> loading …</span>}
      </span>
      {actions !== undefined && <span class="actions">{actions}</span>}
    </div>
  )
}

interface ChoiceProps {
  readonly label: string
  /** Names the choice in the URL. */
  readonly name: string
  readonly value: string | undefined
  /** Text of the choice that filters nothing. */
  readonly all: string
  readonly options: readonly (readonly [value: string, text: string])[]
}

/** A choice of the filter bar. */
export function Choice({ label, name, value = '', all, options }: ChoiceProps): JSX.Element {
  const { navigation } = useServices()
  // A shared URL may name a value that no row has now.
  const isMissing = value !== '' && !options.some(([option]) => option === value)
  return (
    <select
      aria-label={label}
      name={name}
      value={value}
      onChange={(event) => navigation.setQuery({ [name]: event.currentTarget.value })}
    >
      <option value="">{all}</option>
      {isMissing && <option value={value}>{value}</option>}
      {options.map(([option, text]) => (
        <option key={option} value={option}>
          {text}
        </option>
      ))}
    </select>
  )
}

const formatter = new Intl.NumberFormat('en-US')

export function number(value: number): string {
  return formatter.format(value)
}

/** The different values of a field, in order. */
export function distinct(values: Iterable<string | undefined>): readonly (readonly [string, string])[] {
  const found = new Set<string>()
  for (const value of values) if (value !== undefined && value !== '') found.add(value)
  return [...found].toSorted().map((value) => [value, value])
}
