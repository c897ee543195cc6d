// The least program that learns of changed rows: it listens, and reads each row that a notification names. Notifications
// that arrive while it reads are one read. The connection is in the variables of libpq.
import pg from 'pg'

const client = new pg.Client()
const changed = new Set<string>()
let isReading = false

async function readChanged(): Promise<void> {
  if (isReading) return
  isReading = true
  while (changed.size > 0) {
    const ids = [...changed]
    changed.clear()
    await client.query('SELECT * FROM resources WHERE id = ANY($1)', [ids])
  }
  isReading = false
}

function end(error: unknown): void {
  console.error(error)
  process.exit(1)
}

client.on('notification', ({ payload = '' }) => {
  changed.add(payload)
  readChanged().catch(end)
})
await client.connect()
await client.query('LISTEN bench')
process.once('SIGTERM', () => {
  client.end().catch(end)
})
process.stdout.write('listening\n')
