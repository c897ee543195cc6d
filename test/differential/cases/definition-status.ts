/** The status of a definition, where storage migration writes the stored versions. */
import type { CaseGroup, Json, JsonObject } from '../case.ts'
import { create, CRDS, get, MERGE_PATCH, patch, remove, update } from '../steps.ts'

const at = `${CRDS}/gadgets.{ns}.example.test`
const served = '/apis/{ns}.example.test/v1/namespaces/{ns}/gadgets'

const definition: JsonObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.{ns}.example.test' },
  spec: {
    group: '{ns}.example.test',
    scope: 'Namespaced',
    names: { plural: 'gadgets', kind: 'Gadget' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}

const SEEN = { pick: ['kind', 'status.storedVersions', 'code', 'message', 'details'] }
const stored = (storedVersions: Json): ReturnType<typeof patch> =>
  patch(MERGE_PATCH, `${at}/status`, { status: { storedVersions } }, SEEN)
const labelled = (label: string, status = 200): ReturnType<typeof patch> =>
  patch(MERGE_PATCH, at, { metadata: { labels: { label } } }, { ...SEEN, status })
const accepted = (names: JsonObject): ReturnType<typeof patch> =>
  patch(MERGE_PATCH, `${at}/status`, { status: { acceptedNames: names } }, { ...SEEN, status: 422 })

export const definitionStatusCases: CaseGroup = {
  name: 'status of definitions',
  cases: [
    {
      name: 'definition stored in versions that it has not',
      steps: [
        create(CRDS, definition, { pick: ['kind'] }),
        get(served, { eventually: true, pick: ['kind'] }),
        stored(['v1', 'v0']),
        labelled('a', 422),
        stored(['v1']),
        labelled('b'),
        stored(['v0']),
        labelled('c', 422),
        stored(['v1']),
        remove(at, undefined, { pick: ['kind'] }),
      ],
    },
    {
      name: 'definition stored in no version',
      steps: [
        create(CRDS, definition, { pick: ['kind'] }),
        get(served, { eventually: true, pick: ['kind'] }),
        stored([]),
        labelled('a'),
        stored(null),
        labelled('b'),
        remove(at, undefined, { pick: ['kind'] }),
      ],
    },
    {
      name: 'definition whose names were accepted otherwise',
      steps: [
        create(CRDS, definition, { pick: ['kind'] }),
        get(served, { eventually: true, pick: ['kind'] }),
        accepted({ plural: 'A_', kind: 'b_' }),
        accepted({ singular: 'A_', listKind: 'b_', shortNames: ['A', 'ok', '-'], categories: ['B_'] }),
        remove(at, undefined, { pick: ['kind'] }),
      ],
    },
    {
      name: 'definition whose status is not its own to set',
      steps: [
        create(CRDS, { ...definition, status: { storedVersions: ['v0'] } }, SEEN),
        get(served, { eventually: true, pick: ['kind'] }),
        patch(MERGE_PATCH, at, { status: { storedVersions: ['v0'] } }, SEEN),
        get(at, { ...SEEN, save: { rv: 'metadata.resourceVersion' } }),
        update(`${at}/status`, { ...definition, status: { storedVersions: ['v0'] } }, { ...SEEN, status: 422 }),
        remove(at, undefined, { pick: ['kind'] }),
      ],
    },
  ],
}
