import { applyJsonPatch } from './json-patch.ts'
import { applyMergePatch } from './merge-patch.ts'
import { applyStrategicPatch } from './strategic-patch.ts'
import type { Patches } from './types.ts'

export type { Patches } from './types.ts'

export const patches: Patches = {
  json: applyJsonPatch,
  merge: applyMergePatch,
  strategic: applyStrategicPatch,
}
