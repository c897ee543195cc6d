import { expect, test } from 'vitest'

import { validateJobChange } from './job-changes.ts'

const job = (suspend: boolean, status: object, pod: object = {}): Record<string, unknown> => ({
  metadata: { name: 'a', uid: 'u' },
  spec: {
    suspend,
    manualSelector: true,
    podReplacementPolicy: 'Failed',
    selector: { matchLabels: { a: 'b' } },
    template: {
      metadata: { labels: { a: 'b' } },
      spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a' }], ...pod },
    },
  },
  status,
})
const changed = (suspend: boolean, status: object): readonly string[] =>
  validateJobChange(job(suspend, status, { nodeSelector: { a: 'b' } }), job(suspend, status))
    .filter(({ message }) => message.endsWith('field is immutable'))
    .map(({ field }) => field)

// Only a controller sets these states, so they are not recorded.
test('scheduling fields of a Job may change while it is suspended and has no active pods', () => {
  const suspended = { startTime: '2026-01-01T00:00:00Z', conditions: [{ type: 'Suspended', status: 'True' }] }
  expect(changed(true, {})).toEqual([])
  expect(changed(true, suspended)).toEqual([])
  expect(changed(true, { ...suspended, active: 1 })).toEqual(['spec.template'])
  expect(changed(true, { startTime: '2026-01-01T00:00:00Z' })).toEqual(['spec.template'])
  expect(changed(false, {})).toEqual(['spec.template'])
})
