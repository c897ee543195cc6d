/**
 * Sends the requests of `cases.ts` to a kube-apiserver and writes its answers to recorded.json.
 *
 *   node scripts/launch.mjs packages/controlplane/src/kinds/testdata/record.ts <kubeconfig>
 */
import { writeFile } from 'node:fs/promises'
import path from 'node:path'

import { HttpTransport, loadConfig } from '@tenure/kube'
import type { TransportRequest } from '@tenure/kube'

import { RESOURCES } from '../generated/resources.ts'
import type { Body, Case } from './cases.ts'
import { CHANGED, CREATED, REFUSED } from './cases.ts'

const NAMESPACE = 'kinds'

const transport = new HttpTransport(await loadConfig({ kubeconfigPath: process.argv[2] }))

async function send(
  method: TransportRequest['method'],
  url: string,
  body?: unknown,
  accept = 'application/json',
  type = 'application/json',
): Promise<Body> {
  const response = await transport.request({
    method,
    path: url,
    headers: { accept, ...(body !== undefined && { 'content-type': type }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return JSON.parse(await response.body.text()) as Body
}

function urlOf(object: Body): string {
  const [version = '', group = ''] = String(object['apiVersion']).split('/').toReversed()
  const row = RESOURCES.find((each) => each.group === group && each.version === version && each.kind === object['kind'])
  if (!row) throw new Error(`unknown kind ${String(object['kind'])}`)
  return `/${group ? `apis/${group}` : 'api'}/${version}${row.namespaced ? `/namespaces/${NAMESPACE}` : ''}/${row.plural}`
}

const nameOf = (object: Body): string => (object['metadata'] as { name: string }).name

async function remove(object: Body): Promise<void> {
  const url = `${urlOf(object)}/${nameOf(object)}`
  await send('DELETE', `${url}?gracePeriodSeconds=0`, {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    propagationPolicy: 'Background',
  })
  for (let attempt = 0; attempt < 100; attempt++) {
    const found = await send('GET', url)
    if (found['kind'] === 'Status') return
    const { finalizers } = found['metadata'] as { finalizers?: unknown }
    if (finalizers && found['kind'] !== 'CustomResourceDefinition') {
      await send('PATCH', url, { metadata: { finalizers: null } }, undefined, 'application/merge-patch+json')
    }
  }
}

async function create({ title, object }: Case): Promise<Body> {
  const answer = await send('POST', `${urlOf(object)}?fieldValidation=Strict`, object)
  if (answer['kind'] === 'Status') throw new Error(`${title}: ${String(answer['message'])}`)
  return answer
}

await send('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } })
while ((await send('GET', `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/default`))['kind'] === 'Status');

const created: Record<string, unknown> = {}
for (const one of CREATED) {
  const object = await create(one)
  const table = await send(
    'GET',
    `${urlOf(object)}/${nameOf(object)}`,
    undefined,
    'application/json;as=Table;v=v1;g=meta.k8s.io',
  )
  const rows = table['rows'] as { cells: unknown[] }[]
  created[one.title] = {
    object: { ...object, metadata: { ...(object['metadata'] as Body), managedFields: undefined } },
    cells: rows[0]?.cells,
  }
  await remove(object)
}
const refused: Record<string, unknown> = {}
for (const { title, object } of REFUSED) {
  const answer = await send('POST', urlOf(object), object)
  if (answer['kind'] !== 'Status') {
    process.stdout.write(`accepted: ${title}\n`)
    await remove(object)
  } else refused[title] = answer
}
const changed: Record<string, unknown> = {}
for (const one of CHANGED) {
  const object = await create(one)
  const answer = await send(
    'PATCH',
    `${urlOf(object)}/${nameOf(object)}`,
    one.patch,
    undefined,
    'application/merge-patch+json',
  )
  if (answer['kind'] !== 'Status') process.stdout.write(`changed: ${one.title}\n`)
  else changed[one.title] = answer
  await remove(object)
}
const file = path.join(import.meta.dirname, 'recorded.json')
await writeFile(file, `${JSON.stringify({ created, refused, changed }, null, 1)}\n`)
await transport.close()
