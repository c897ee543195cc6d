/** Cases that make one of a kind, change it, and remove it again: nobody else shall meet it. */
import type { Case, JsonObject, RequestStep } from './case.ts'
import { valueAt } from './paths.ts'
import type { Sample } from './samples.ts'
import { create, MERGE_PATCH, patch, remove } from './steps.ts'

export const specs = (...list: readonly JsonObject[]): readonly JsonObject[] => list.map((spec) => ({ spec }))

const around =
  (extra: Partial<RequestStep>) =>
  (name: string, { path, base }: Sample, ...changes: readonly JsonObject[]): Case => {
    const own = valueAt(base, 'metadata.name')
    const at = `${path}/${typeof own === 'string' ? own : ''}`
    return {
      name: `change ${name}`,
      steps: [
        create(path, base, { pick: ['kind'] }),
        ...changes.map((change) => patch(MERGE_PATCH, at, change, extra)),
        remove(at, undefined, { pick: ['kind'] }),
      ],
    }
  }

/** Each of these changes is refused. */
export const changed = around({ status: 422 })

/** The same, where the refusal quotes so much, as Go has it in memory, that only the fields are compared. */
export const changedMuch = around({ status: 422, ignore: ['message', 'details.causes.*.message'] })

/** Each is taken. */
export const mended = around({ pick: ['spec'] })
