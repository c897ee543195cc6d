import { accessRequests } from './access.ts'
import { builtInKindRequests } from './built-in-kinds.ts'
import { objectRequests } from './objects.ts'
import { patchRequests } from './patches.ts'
import { protobufRequests } from './protobuf.ts'
import { queryRequests } from './queries.ts'
import type { HostileRequest } from './request.ts'
import { schemaRequests } from './schemas.ts'
import { yamlRequests } from './yaml.ts'

export { operatorRequests } from './operators.ts'
export { randomBody } from './random-body.ts'
export type { HostileRequest } from './request.ts'
export { WIDGET_CRD } from './schemas.ts'

/** Every known way to make work grow faster than the request, and to end the process. */
export function directedRequests(): HostileRequest[] {
  return [
    ...objectRequests(),
    ...builtInKindRequests(),
    ...accessRequests(),
    ...schemaRequests(),
    ...patchRequests(),
    ...yamlRequests(),
    ...protobufRequests(),
    ...queryRequests(),
  ]
}
