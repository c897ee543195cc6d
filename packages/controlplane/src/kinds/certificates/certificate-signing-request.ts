import { asJson, asJsons, asText, at } from '../../model/json.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import type { KindTable } from '../common/kind-table.ts'

export const CERTIFICATES: KindTable = {
  'certificatesigningrequests.certificates.k8s.io': {
    columns: (request, age) => {
      const { signerName, username, expirationSeconds } = asJson(request['spec'])
      const conditions = asJsons(at(request, 'status', 'conditions')).map(({ type }) => asText(type))
      const state = ['Approved', 'Denied', 'Failed'].filter((type) => conditions.includes(type))
      if (state.length === 0) state.push('Pending')
      if (at(request, 'status', 'certificate')) state.push('Issued')
      const duration = typeof expirationSeconds === 'number' ? `${expirationSeconds}s` : '<none>'
      return [
        nameOf(request),
        age(createdAt(request)),
        asText(signerName) || '<none>',
        asText(username),
        duration,
        state.join(','),
      ]
    },
    rules: { generation: false },
  },
}
