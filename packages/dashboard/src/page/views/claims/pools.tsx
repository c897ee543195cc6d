import type { JSX } from 'preact'
import type { LiveTable } from '../../data/live-table.ts'
import type { RowOf } from '../../data/rows.ts'
import { formatRoute } from '../../logic/route.ts'
import { ttlText } from '../../logic/time.ts'
import { Histogram } from '../../parts/histogram.tsx'
import { tableProblem } from '../../parts/states.tsx'
import { In } from '../../parts/time.tsx'

interface PoolsProps {
  readonly table: LiveTable<RowOf<'pools'>>
  /** The pool that the claims below are filtered by. */
  readonly selected: string
}

/** A card per pool: how warm it is, how often that helped, and how long hand-outs took. */
export function Pools({ table, selected }: PoolsProps): JSX.Element | null {
  const problem = tableProblem(table.state, 'pools')
  if (problem) return table.state.status === 'absent' ? null : problem
  const pools = [...table.entries()].map(({ row }) => row).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  if (pools.length === 0) return null
  return (
    <ul class="cards" aria-label="Pools">
      {pools.map((pool) => (
        <PoolCard key={pool.id} pool={pool} isSelected={pool.name === selected} />
      ))}
    </ul>
  )
}

function PoolCard({ pool, isSelected }: { readonly pool: RowOf<'pools'>; readonly isSelected: boolean }): JSX.Element {
  const { name, target, warm, claimed, pending, failing, claimsWarm, claimsCold, handoutSeconds } = pool
  const { lastFailure, failedUntil, defaultTtl, maxTtl } = pool
  const taken = claimsWarm + claimsCold
  return (
    <li class={`card pool ${isSelected ? 'selected' : ''} ${failing > 0 ? 'troubled' : ''}`}>
      <h2>
        <a
          href={formatRoute(['claims'], { pool: isSelected ? undefined : name })}
          title={isSelected ? 'Show all pools' : 'Show its claims'}
        >
          {name}
        </a>
        <span class="muted">
          {ttlText(defaultTtl)}, at most {ttlText(maxTtl)}
        </span>
      </h2>
      <div class="figures">
        <Figure
          value={warm}
          of={target}
          label="warm"
          tone={warm === 0 && target > 0 ? 'bad' : warm < target ? 'wait' : 'good'}
        />
        <Figure value={claimed} label="claimed" />
        <Figure value={pending} label="pending" tone={pending > 0 ? 'wait' : undefined} />
        <Figure value={failing} label="failing" tone={failing > 0 ? 'bad' : undefined} />
        <Figure
          value={taken === 0 ? '–' : `${Math.floor((100 * claimsWarm) / taken)}%`}
          label="hit rate"
          title={`${claimsWarm} warm, ${claimsCold} made on demand`}
        />
      </div>
      <div class="pool-foot">
        <span class="muted">Hand-out</span> <Histogram histogram={handoutSeconds} what="Hand-out" />
      </div>
      {lastFailure !== undefined && lastFailure !== '' && (
        <p class="failure" title={lastFailure}>
          {failedUntil !== undefined && (
            <>
              Next try <In at={failedUntil} />:{' '}
            </>
          )}
          {lastFailure}
        </p>
      )}
    </li>
  )
}

interface FigureProps {
  readonly value: number | string
  readonly of?: number
  readonly label: string
  readonly tone?: 'good' | 'wait' | 'bad' | undefined
  readonly title?: string
}

function Figure({ value, of, label, tone, title }: FigureProps): JSX.Element {
  return (
    <span class={`figure ${tone ?? ''}`} title={title}>
      <strong>
        {value}
        {of !== undefined && <span class="muted">/{of}</span>}
      </strong>
      <span>{label}</span>
    </span>
  )
}
