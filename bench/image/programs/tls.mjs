// Bare Node with a TLS connection to the API server of the kubeconfig that the first argument names, in JSON.
import { readFileSync } from 'node:fs'
import { connect } from 'node:tls'

const { clusters } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const { server, 'certificate-authority-data': ca } = clusters[0].cluster
const { hostname, port } = new URL(server)
connect({ host: hostname, port: Number(port), ca: Buffer.from(ca, 'base64') }, () => console.log('ready'))
setInterval(() => undefined, 1_000_000)
