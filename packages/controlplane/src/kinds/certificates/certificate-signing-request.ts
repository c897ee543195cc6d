import { asJsonObject, asString, valueAtPath } from '@tenure/kube/model'

import { asJsonObjects, withField } from '../../model/json.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import type { KindTable } from '../common/kind-table.ts'

export const CERTIFICATES: KindTable = {
  'certificatesigningrequests.certificates.k8s.io': {
    columns: (request, age) => {
      const { signerName, username, expirationSeconds } = asJsonObject(request['spec'])
      const conditions = asJsonObjects(valueAtPath(request, 'status', 'conditions')).map(({ type }) => asString(type))
      const state = ['Approved', 'Denied', 'Failed'].filter((type) => conditions.includes(type))
      if (state.length === 0) state.push('Pending')
      if (valueAtPath(request, 'status', 'certificate')) state.push('Issued')
      const duration = typeof expirationSeconds === 'number' ? `${expirationSeconds}s` : '<none>'
      return [
        nameOf(request),
        age(createdAt(request)),
        asString(signerName) || '<none>',
        asString(username),
        duration,
        state.join(','),
      ]
    },
    // A request cannot change what it asks for.
    rules: { generation: false, prepareForUpdate: (request, old) => withField(request, 'spec', old['spec']) },
  },
}
