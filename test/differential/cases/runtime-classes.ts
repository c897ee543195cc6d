/** The effects of a RuntimeClass on the pods that name it. */
import type { Case, CaseGroup, JsonObject } from '../case.ts'
import { pod } from '../objects.ts'
import { core, create, remove } from '../steps.ts'

const CLASSES = '/apis/node.k8s.io/v1/runtimeclasses'
const PODS = `${core('pods')}?dryRun=All`

const runtime = (more: JsonObject): JsonObject => ({
  apiVersion: 'node.k8s.io/v1',
  kind: 'RuntimeClass',
  metadata: { name: 'runtime-{ns}' },
  handler: 'a',
  ...more,
})
const running = (spec: JsonObject): JsonObject => pod('a', { runtimeClassName: 'runtime-{ns}', ...spec })

/** A class with pods that are accepted and pods that are rejected. */
const one = (name: string, fields: JsonObject, pods: readonly JsonObject[], refused: readonly JsonObject[]): Case => ({
  name: `runtime ${name}`,
  hasPods: true,
  steps: [
    create(CLASSES, runtime(fields)),
    ...pods.map((spec) => create(PODS, running(spec), { pick: ['spec'] })),
    ...refused.map((spec) => create(PODS, running(spec), { status: 403 })),
    remove(`${CLASSES}/runtime-{ns}`),
  ],
})

const exists = (key: string, more: JsonObject = {}): JsonObject => ({ key, operator: 'Exists', ...more })

export const runtimeClassCases: CaseGroup = {
  name: 'runtime classes',
  cases: [
    one(
      'that takes something itself',
      { overhead: { podFixed: { cpu: '100m', memory: '1Mi' } } },
      [{}, { overhead: {} }, { overhead: { cpu: '0.1', memory: '1Mi' } }],
      [{ overhead: { cpu: '1' } }],
    ),
    one('that takes nothing', {}, [{}], [{ overhead: { cpu: '1' } }]),
    one(
      'on some nodes',
      { scheduling: { nodeSelector: { a: 'b', c: 'd' } } },
      [{}, { nodeSelector: { e: 'f' } }, { nodeSelector: { a: 'b' } }],
      [{ nodeSelector: { a: 'other' } }],
    ),
    one(
      'on nodes to put up with',
      {
        scheduling: {
          tolerations: [
            exists('a', { effect: 'NoSchedule' }),
            { key: 'b', value: 'c' },
            exists('node.kubernetes.io/not-ready', { effect: 'NoExecute' }),
          ],
        },
      },
      [
        {},
        { tolerations: [exists('a')] },
        { tolerations: [exists('z'), exists('a', { effect: 'NoSchedule' })] },
        { tolerations: [{ key: 'b', operator: 'Equal', value: 'c', effect: 'NoSchedule' }] },
        { tolerations: [exists('n', { effect: 'NoExecute', tolerationSeconds: 5 }), exists('n')] },
        { tolerations: [{ operator: 'Exists' }] },
      ],
      [],
    ),
    one(
      'of all of it',
      {
        overhead: { podFixed: { cpu: '1' } },
        scheduling: { nodeSelector: { a: 'b' }, tolerations: [exists('a')] },
      },
      [{}],
      [{ nodeSelector: { a: 'c' }, overhead: { cpu: '2' } }],
    ),
  ],
}
