// Hands out bare members on the cluster of KUBECONFIG over HTTP, without an operator.
import { connect } from '../../programs/cluster.ts'
import { flags } from '../../programs/usage.ts'
import { serveBareMembers } from '../bare-server.ts'

const flag = flags(process.argv.slice(2))
const { client, transport } = await connect(process.env['KUBECONFIG'] ?? '')
const server = await serveBareMembers(client, { namespace: flag('namespace'), port: Number(flag('port')) })
process.once('SIGTERM', () => {
  void server.close().then(() => transport.close())
})
