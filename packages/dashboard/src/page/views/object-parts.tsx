import type { JSX } from 'preact'
import { queryOf } from '../data/api.ts'
import type { ObjectDetails, OwnerTreeNode, ShownCondition } from '../data/rows.ts'
import { objectRoute } from '../logic/route.ts'
import { Badge } from '../parts/badge.tsx'
import { type Fetched, useFetched } from '../parts/fetched.ts'
import { CopyButton, Section } from '../parts/panel.tsx'
import { Loading, StateCard } from '../parts/states.tsx'
import { Ago } from '../parts/time.tsx'

/** Names one object. */
export interface ObjectTarget {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string | undefined
  readonly name: string
}

interface ObjectPartsProps {
  readonly target: ObjectTarget
  /** Another version means that the object changed, so it is read again. */
  readonly version: string
  /** Default: the conditions in the object's status. */
  readonly conditions?: readonly Partial<ShownCondition>[]
}

export function useObject(target: ObjectTarget, version: string): Fetched<ObjectDetails> {
  const { apiVersion, kind, namespace, name } = target
  return useFetched<ObjectDetails>(`./api/v1/object${queryOf({ apiVersion, kind, namespace, name })}`, version)
}

/** Why, owner tree, conditions, events and YAML of an object. */
export function ObjectParts({ target, version, conditions }: ObjectPartsProps): JSX.Element {
  const fetched = useObject(target, version)
  return <ObjectSections fetched={fetched} target={target} conditions={conditions} />
}

interface ObjectSectionsProps {
  readonly fetched: Fetched<ObjectDetails>
  readonly target: ObjectTarget
  readonly conditions?: readonly Partial<ShownCondition>[] | undefined
}

export function ObjectSections({ fetched, target, conditions }: ObjectSectionsProps): JSX.Element {
  const { value, error, status, reload } = fetched
  if (!value) {
    if (error === undefined) return <Loading what="the object" />
    const title =
      status === 403
        ? 'You may not see this object'
        : status === 404
          ? 'There is no such object'
          : 'The object cannot be read'
    return (
      <StateCard title={title} tone={status === 404 ? 'calm' : 'bad'}>
        {error}{' '}
        <button type="button" class="link" onClick={reload}>
          Try again
        </button>
      </StateCard>
    )
  }
  const { object, yaml, owners, children, events, why } = value
  const shown = conditions ?? object.status?.conditions ?? []
  return (
    <>
      {why !== undefined && why !== '' && (
        <p class="why" role="note">
          <strong>Why it is not ready:</strong> {why}
        </p>
      )}
      <div class="columns">
        <Section title="Owner tree">
          <OwnerTree owners={owners} target={target}>
            {children}
          </OwnerTree>
        </Section>
        <Section title="Conditions">
          <Conditions conditions={shown} />
        </Section>
      </div>
      <Section title="Events">
        <Events events={events} />
      </Section>
      <Section
        title="YAML"
        aside={
          <span class="actions">
            <button type="button" class="small" onClick={reload} aria-keyshortcuts="r">
              Read again
            </button>
            <CopyButton text={yaml} label="Copy" what="the YAML" />
          </span>
        }
      >
        <pre class="yaml" tabIndex={0} aria-label="YAML">
          {yaml}
        </pre>
      </Section>
    </>
  )
}

interface OwnerTreeProps {
  /** From the direct owner to the root. */
  readonly owners: readonly OwnerTreeNode[]
  readonly target: ObjectTarget
  readonly children: readonly OwnerTreeNode[]
}

function OwnerTree({ owners, target, children }: OwnerTreeProps): JSX.Element {
  let tree = (
    <li>
      <span class="node here" aria-current="page">
        <span class="kind">{target.kind}</span> {target.name}
      </span>
      <NodeList nodes={children} />
    </li>
  )
  for (const owner of owners) {
    tree = (
      <li>
        <NodeText node={owner} />
        <ul>{tree}</ul>
      </li>
    )
  }
  return <ul class="tree">{tree}</ul>
}

function NodeList({ nodes }: { readonly nodes: readonly OwnerTreeNode[] }): JSX.Element | null {
  if (nodes.length === 0) return null
  return (
    <ul>
      {nodes.map((node) => (
        <li key={node.uid}>
          <NodeText node={node} />
          <NodeList nodes={node.children ?? []} />
        </li>
      ))}
    </ul>
  )
}

function NodeText({ node }: { readonly node: OwnerTreeNode }): JSX.Element {
  const { kind, name, ready, message } = node
  return (
    <span class="node">
      <span class={`dot ${ready === undefined ? 'calm' : ready ? 'good' : 'wait'}`} aria-hidden="true" />
      <span class="kind">{kind}</span> <a href={objectRoute(node)}>{name}</a>
      {ready !== undefined && <span class="offscreen">{ready ? ' is ready' : ' is not ready'}</span>}
      {message !== undefined && message !== '' && <span class="muted"> {message}</span>}
    </span>
  )
}

export function Conditions({ conditions }: { readonly conditions: readonly Partial<ShownCondition>[] }): JSX.Element {
  if (conditions.length === 0) return <p class="muted">This object reports no conditions.</p>
  return (
    <table class="plain">
      <thead>
        <tr>
          <th scope="col">Type</th>
          <th scope="col">Status</th>
          <th scope="col">Reason</th>
          <th scope="col">Since</th>
        </tr>
      </thead>
      <tbody>
        {conditions.map(({ type = '', status = '', reason = '', message = '', lastTransitionTime }) => (
          <tr key={type}>
            <td>{type}</td>
            <td>
              <Badge text={status} tone={conditionTone(type, status)} />
            </td>
            <td class="text">
              {reason} {message !== '' && <span class="muted">{message}</span>}
            </td>
            <td>
              <Ago at={lastTransitionTime === undefined ? undefined : Date.parse(lastTransitionTime)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** For some conditions, True is the bad state. */
const NEGATIVE = /Degraded|Failed|Failure|Pressure|Unavailable|Suspended/

function conditionTone(type: string, status: string): 'good' | 'wait' | 'bad' | 'calm' {
  if (status === 'Unknown') return 'wait'
  // Progressing says what happens, not whether that is good.
  if (type === 'Progressing') return 'calm'
  return (status === 'True') === NEGATIVE.test(type) ? 'bad' : 'good'
}

function Events({ events }: Pick<ObjectDetails, 'events'>): JSX.Element {
  if (events.length === 0) return <p class="muted">No events. The API server keeps them for an hour.</p>
  return (
    <table class="plain">
      <thead>
        <tr>
          <th scope="col">Last seen</th>
          <th scope="col">Type</th>
          <th scope="col">Reason</th>
          <th scope="col">Message</th>
          <th scope="col" class="wide-only">
            From
          </th>
        </tr>
      </thead>
      <tbody>
        {events.map(({ type, reason, message, count, lastTimestamp, source }) => (
          <tr key={`${reason} ${lastTimestamp} ${message}`}>
            <td>
              <Ago at={Date.parse(lastTimestamp)} />
            </td>
            <td>
              <Badge text={type} />
            </td>
            <td>
              {reason}
              {count > 1 && <span class="muted"> ×{count}</span>}
            </td>
            <td class="text">{message}</td>
            <td class="muted wide-only">{source}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
