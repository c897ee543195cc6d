// An exec plugin for tests. It counts its runs in the file COUNT and behaves as PLUGIN says.
import { appendFileSync, readFileSync } from 'node:fs'

const { COUNT, PLUGIN, KUBERNETES_EXEC_INFO } = process.env
appendFileSync(COUNT, '.')
const run = readFileSync(COUNT, 'utf8').length
const info = JSON.parse(KUBERNETES_EXEC_INFO)
const answer = (status) =>
  process.stdout.write(JSON.stringify({ kind: 'ExecCredential', apiVersion: info.apiVersion, status }))

switch (PLUGIN) {
  case 'fail':
    process.stderr.write('warming up\nthe session has ended\n')
    process.exitCode = 3
    break
  case 'garbage':
    process.stdout.write('hello')
    break
  case 'hang':
    setInterval(() => undefined, 1000)
    break
  case 'info':
    answer({ token: Buffer.from(JSON.stringify({ info, args: process.argv.slice(2) })).toString('base64url') })
    break
  case 'expiring':
    answer({ token: `run-${run}`, expirationTimestamp: process.env.EXPIRES })
    break
  case 'certificate': {
    const name = run === 1 ? process.env.FIRST : process.env.SECOND
    answer({
      clientCertificateData: readFileSync(`${name}.pem`, 'utf8'),
      clientKeyData: readFileSync(`${name}.key`, 'utf8'),
    })
    break
  }
  default:
    answer({ token: `run-${run}` })
}
