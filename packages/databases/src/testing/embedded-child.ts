/** Starts the embedded PostgreSQL in the directory of its argument, prints its port, and waits to be killed. */
import { silentLogger } from '@tenure/runtime'
import { startEmbeddedPostgres } from '../embedded-postgres/index.ts'

const server = await startEmbeddedPostgres({ directory: process.argv[2] ?? '', log: silentLogger })
process.stdout.write(`${server.port}\n`)
process.stdin.resume()
