/** Cases that create an object, change it and delete it, so that no other case sees it. */
import type { Case, JsonObject, RequestStep } from './case.ts'
import { valueAt } from './paths.ts'
import type { Sample } from './samples.ts'
import { create, MERGE_PATCH, patch, remove } from './steps.ts'

export const specs = (...list: readonly JsonObject[]): readonly JsonObject[] => list.map((spec) => ({ spec }))

const changeCases =
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

/** Each of these changes is rejected. */
export const changed = changeCases({ status: 422 })

/** The same, for messages that print Go structs: only the fields are compared. */
export const changedMuch = changeCases({ status: 422, ignore: ['message', 'details.causes.*.message'] })

/** Each change is accepted. */
export const mended = changeCases({ pick: ['spec'] })
