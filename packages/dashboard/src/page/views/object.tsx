import type { JSX } from 'preact'
import { formatRoute } from '../logic/route.ts'
import { Facts } from '../parts/panel.tsx'
import { StateCard } from '../parts/states.tsx'
import { Ago } from '../parts/time.tsx'
import { ViewHead } from '../parts/view-head.tsx'
import { ObjectSections, useObject } from './object-parts.tsx'
import type { ViewProps } from './view-props.ts'

/** One object of any kind. */
export function ObjectView({ route: { query } }: ViewProps): JSX.Element {
  const { apiVersion = '', kind = '', namespace, name = '' } = query
  if (apiVersion === '' || kind === '' || name === '') {
    return (
      <>
        <ViewHead title="Object" />
        <StateCard title="The address names no object">
          It needs apiVersion, kind and name. Objects are linked from <a href={formatRoute(['leases'])}>Leases</a> and{' '}
          <a href={formatRoute(['applications'])}>Applications</a>.
        </StateCard>
      </>
    )
  }
  return <OneObject apiVersion={apiVersion} kind={kind} namespace={namespace} name={name} />
}

interface OneObjectProps {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace: string | undefined
  readonly name: string
}

function OneObject(target: OneObjectProps): JSX.Element {
  const fetched = useObject(target, '')
  const metadata = fetched.value?.object.metadata
  const labels = Object.entries(metadata?.labels ?? {})
  return (
    <>
      <ViewHead title={target.name} note={`${target.kind} · ${target.apiVersion}`} />
      {metadata && (
        <div class="card">
          <Facts
            facts={[
              ['Namespace', metadata.namespace],
              [
                'Created',
                metadata.creationTimestamp && <Ago key="created" at={Date.parse(metadata.creationTimestamp)} />,
              ],
              [
                'Deletion began',
                metadata.deletionTimestamp && <Ago key="deleted" at={Date.parse(metadata.deletionTimestamp)} />,
              ],
              [
                'Labels',
                labels.length > 0 && (
                  <span class="labels">
                    {labels.map(([key, value]) => (
                      <code key={key}>
                        {key}={value}
                      </code>
                    ))}
                  </span>
                ),
              ],
            ].filter((fact): fact is [string, JSX.Element | string] => Boolean(fact[1]))}
          />
        </div>
      )}
      <ObjectSections fetched={fetched} target={target} />
    </>
  )
}
