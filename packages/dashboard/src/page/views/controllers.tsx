import type { JSX } from 'preact'
import type { RowOf } from '../data/rows.ts'
import { number } from '../parts/filter-bar.tsx'
import { Histogram } from '../parts/histogram.tsx'
import { Section } from '../parts/panel.tsx'
import { useTable } from '../parts/services.ts'
import { StateCard, tableProblem } from '../parts/states.tsx'
import { Age } from '../parts/time.tsx'
import { ViewHead } from '../parts/view-head.tsx'

type Row = RowOf<'controllers'>

/** The controllers of each operator: who leads, what waits, and how long reconciles take. */
export function ControllersView(): JSX.Element {
  const table = useTable('controllers')
  const rows = [...table.entries()].map(({ row }) => row).toSorted(byOperator)
  const operators = Map.groupBy(rows, ({ operator }) => operator)
  return (
    <>
      <ViewHead title="Controllers" note="What the operators of this process do." />
      {tableProblem(table.state, 'controllers') ??
        (rows.length === 0 ? (
          <StateCard title="No controller runs yet" />
        ) : (
          [...operators].map(([operator, controllers]) => (
            <OperatorSection key={operator} operator={operator} controllers={controllers} />
          ))
        ))}
    </>
  )
}

/** Work that belongs to no single operator comes last. */
function byOperator(a: Row, b: Row): number {
  if ((a.operator === '') !== (b.operator === '')) return a.operator === '' ? 1 : -1
  return a.id < b.id ? -1 : 1
}

interface OperatorSectionProps {
  readonly operator: string
  readonly controllers: readonly Row[]
}

function OperatorSection({ operator, controllers }: OperatorSectionProps): JSX.Element {
  const leader = controllers.find((row) => row.leader !== undefined)?.leader
  const isLeader = controllers.some((row) => row.isLeader)
  return (
    <Section
      title={operator || 'Other work'}
      aside={
        operator !== '' && (
          <span class="leader">
            {isLeader ? <span class="badge good">leads here</span> : <span class="badge calm">standby</span>}
            <span class="muted">{leader === undefined ? 'no leader' : `leader ${leader}`}</span>
          </span>
        )
      }
    >
      <div class="scroll-x">
        <table class="plain controllers">
          <thead>
            <tr>
              <th scope="col">Controller</th>
              <th scope="col" class="numeric">
                Queue
              </th>
              <th scope="col" class="numeric">
                Reconciles
              </th>
              <th scope="col" class="numeric">
                Retries
              </th>
              <th scope="col" class="numeric">
                Errors
              </th>
              <th scope="col" class="numeric">
                Last event
              </th>
              <th scope="col">Reconcile duration</th>
            </tr>
          </thead>
          <tbody>
            {controllers.map((row) => (
              <tr key={row.id}>
                <th scope="row">{row.name || <span class="muted">no queue</span>}</th>
                <td class="numeric" data-label="Queue">
                  <Amount value={row.depth} warnFrom={100} />
                </td>
                <td class="numeric" data-label="Reconciles">
                  {number(row.reconciles)}
                </td>
                <td class="numeric" data-label="Retries">
                  <Amount value={row.retries} warnFrom={1} />
                </td>
                <td class="numeric" data-label="Errors">
                  <Amount value={row.errors} warnFrom={1} />
                </td>
                <td class="numeric" data-label="Last event">
                  <Age at={row.lastEventAt} />
                </td>
                <td data-label="Duration">
                  <Histogram histogram={row.durationSeconds} what={`Reconcile duration of ${row.name}`} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  )
}

function Amount({ value, warnFrom }: { readonly value: number; readonly warnFrom: number }): JSX.Element {
  return <span class={value === 0 ? 'muted' : value >= warnFrom ? 'warn' : ''}>{number(value)}</span>
}
