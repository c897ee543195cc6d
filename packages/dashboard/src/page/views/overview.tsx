import type { ComponentChildren, JSX } from 'preact'
import type { LiveTable } from '../data/live-table.ts'
import { PAGE_VIEWS, type PageRow, type PageView, type RowOf } from '../data/rows.ts'
import { formatRoute } from '../logic/route.ts'
import type { TimelineItem } from '../logic/timeline.ts'
import { type Trouble, troubleOf } from '../logic/trouble.ts'
import { number } from '../parts/filter-bar.tsx'
import { Section } from '../parts/panel.tsx'
import { hasView, useServices, useTable } from '../parts/services.ts'
import { ViewHead } from '../parts/view-head.tsx'
import { TimelineChart } from './timeline-chart.tsx'
import type { ViewProps } from './view-props.ts'

/** Entries of the list of what is in trouble; the rest is counted. */
const MAX_SHOWN_TROUBLE = 12

export function Overview({ route }: ViewProps): JSX.Element {
  const { about, clock } = useServices()
  const tables = {
    applications: useTable('applications'),
    claims: useTable('claims'),
    pools: useTable('pools'),
    leases: useTable('leases'),
    'lease-controllers': useTable('lease-controllers'),
    databases: useTable('databases'),
    controllers: useTable('controllers'),
  }
  const now = clock.now()
  const shown = PAGE_VIEWS.filter((view) => hasView(about, view))
  const trouble = shown
    .flatMap((view) => troubleIn(view, tables[view] as unknown as LiveTable<PageRow>, now))
    .toSorted((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level))
  return (
    <>
      <ViewHead title="Overview" />
      <ul class="tiles" aria-label="Counts">
        <ApplicationsTile table={tables.applications} />
        <ClaimsTile claims={tables.claims} pools={tables.pools} />
        <LeasesTile table={tables.leases} now={now} />
        <DatabasesTile table={tables.databases} />
      </ul>
      <Section title="In trouble" aside={trouble.length > 0 && <span class="badge bad">{number(trouble.length)}</span>}>
        {trouble.length > 0 ? (
          <TroubleList trouble={trouble} />
        ) : (
          <p class="calm-line">{calmText(shown.map((view) => tables[view].state.status))}</p>
        )}
      </Section>
      <TimelineChart items={() => endings(tables.claims, tables.leases)} route={route} />
    </>
  )
}

/** Text of an empty list, which knows only of views that the user may read. */
function calmText(states: readonly string[]): string {
  if (states.includes('loading')) return 'Loading …'
  if (states.every((state) => state === 'ready')) return 'Everything is as it should be.'
  return states.includes('ready') ? 'What you may see is as it should be.' : 'There is nothing that you may see.'
}

const LEVELS: readonly Trouble['level'][] = ['failed', 'waiting']

function troubleIn(view: PageView, table: LiveTable<PageRow>, now: number): readonly Trouble[] {
  // A table holds only rows of its view.
  const find = (troubleOf as Partial<Record<PageView, unknown>>)[view] as
    | ((row: PageRow, now: number) => Trouble | undefined)
    | undefined
  if (!find) return []
  const found: Trouble[] = []
  for (const { row } of table.entries()) {
    const trouble = find(row, now)
    if (trouble) found.push(trouble)
  }
  return found
}

function TroubleList({ trouble }: { readonly trouble: readonly Trouble[] }): JSX.Element {
  const more = trouble.length - MAX_SHOWN_TROUBLE
  return (
    <ul class="trouble">
      {trouble.slice(0, MAX_SHOWN_TROUBLE).map(({ id, level, kind, name, namespace, reason, href }) => (
        <li key={id}>
          <span class={`dot ${level === 'failed' ? 'bad' : 'wait'}`} aria-hidden="true" />
          <span class="what">
            <span class="kind">{kind}</span> <a href={href}>{name}</a>
            {namespace !== undefined && <span class="muted"> in {namespace}</span>}
          </span>
          <span class="reason" title={reason}>
            <span class="offscreen">{level}: </span>
            {reason}
          </span>
        </li>
      ))}
      {more > 0 && <li class="muted">and {number(more)} more</li>}
    </ul>
  )
}

/** Everything that ends by itself: claims that are held, and leased objects. */
function* endings(claims: LiveTable<RowOf<'claims'>>, leases: LiveTable<RowOf<'leases'>>): Iterable<TimelineItem> {
  for (const { row } of claims.entries()) {
    const { id, name, namespace, expiresAt } = row
    if (expiresAt === undefined) continue
    yield { id, kind: 'Claim', series: 'claims', name, namespace, expiresAt }
  }
  for (const { row } of leases.entries()) {
    const { id, kind, name, namespace, expiresAt } = row
    if (expiresAt === undefined) continue
    yield { id, kind, series: 'leases', name, namespace, expiresAt }
  }
}

interface TileProps {
  readonly title: string
  readonly href: string
  readonly state: LiveTable<PageRow>['state']
  readonly count: number
  readonly children: ComponentChildren
}

function Tile({ title, href, state, count, children }: TileProps): JSX.Element | null {
  if (state.status === 'absent') return null
  const total = state.status === 'ready' && !state.isComplete ? Math.max(count, state.total) : count
  return (
    <li class="tile">
      <a href={href}>
        <span class="tile-title">{title}</span>
        {state.status === 'ready' ? (
          <>
            <strong>{number(total)}</strong>
            <span class="tile-text">{children}</span>
          </>
        ) : (
          <>
            <strong class="muted">–</strong>
            <span class="tile-text">{state.status === 'loading' ? 'loading …' : state.message}</span>
          </>
        )}
      </a>
    </li>
  )
}

function countOf<R>(table: LiveTable<R & PageRow>, matches: (row: R) => boolean): number {
  let count = 0
  for (const { row } of table.entries()) if (matches(row)) count++
  return count
}

function ApplicationsTile({ table }: { readonly table: LiveTable<RowOf<'applications'>> }): JSX.Element {
  const running = countOf(table, ({ phase }) => phase === 'Running')
  const failed = countOf(table, ({ phase }) => phase === 'Failed')
  return (
    <Tile title="Applications" href={formatRoute(['applications'])} state={table.state} count={table.size}>
      {number(running)} running{failed > 0 && <span class="bad-text">, {number(failed)} failed</span>}
    </Tile>
  )
}

interface ClaimsTileProps {
  readonly claims: LiveTable<RowOf<'claims'>>
  readonly pools: LiveTable<RowOf<'pools'>>
}

function ClaimsTile({ claims, pools }: ClaimsTileProps): JSX.Element {
  const held = countOf(claims, ({ isIdle }) => !isIdle)
  const failed = countOf(claims, ({ status }) => status === 'failed')
  let warm = 0
  for (const { row } of pools.entries()) warm += row.warm
  return (
    <Tile title="Claims held" href={formatRoute(['claims'])} state={claims.state} count={held}>
      {number(warm)} warm in {pools.size} {pools.size === 1 ? 'pool' : 'pools'}
      {failed > 0 && <span class="bad-text">, {number(failed)} failed</span>}
    </Tile>
  )
}

interface LeasesTileProps {
  readonly table: LiveTable<RowOf<'leases'>>
  readonly now: number
}

/** Milliseconds. */
const HOUR = 3_600_000

function LeasesTile({ table, now }: LeasesTileProps): JSX.Element {
  const soon = countOf(table, ({ expiresAt }) => expiresAt !== undefined && expiresAt - now < HOUR)
  return (
    <Tile title="Leases" href={formatRoute(['leases'])} state={table.state} count={table.size}>
      {number(soon)} end within an hour
    </Tile>
  )
}

function DatabasesTile({ table }: { readonly table: LiveTable<RowOf<'databases'>> }): JSX.Element {
  const active = countOf(table, ({ status }) => status === 'active')
  const failed = countOf(table, ({ status }) => status === 'error')
  return (
    <Tile title="Databases" href={formatRoute(['databases'])} state={table.state} count={table.size}>
      {number(active)} active{failed > 0 && <span class="bad-text">, {number(failed)} in error</span>}
    </Tile>
  )
}
