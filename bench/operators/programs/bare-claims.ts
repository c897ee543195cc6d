// Hands out bare members on the cluster of KUBECONFIG over HTTP, without an operator. `--server=guarded`: behind the HTTP
// server of operators.
import { connect } from '../../programs/cluster.ts'
import { flags } from '../../programs/usage.ts'
import { serveBareMembers, serveGuardedMembers } from '../bare-server.ts'

const flag = flags(process.argv.slice(2))
const { client, transport } = await connect(process.env['KUBECONFIG'] ?? '')
const options = { namespace: flag('namespace'), port: Number(flag('port')) }
const server =
  flag('server') === 'guarded'
    ? await serveGuardedMembers(client, transport, options)
    : await serveBareMembers(client, options)
process.once('SIGTERM', () => {
  void server.close().then(() => transport.close())
})
