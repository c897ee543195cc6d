import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { TenureError } from '@tenure/kube'

/** The account that PostgreSQL runs as, because it refuses to run as root. */
export interface UnprivilegedUser {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/** Accounts of PostgreSQL on Linux and macOS. No account is created. */
const ACCOUNTS = ['postgres', '_postgres']
/** The account without rights that Linux systems have. */
const OVERFLOW_UID = 65_534

/** The account to switch to; undefined if this process is not root. */
export async function unprivilegedUser(): Promise<UnprivilegedUser | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => {
    const [name = '', , uid, gid] = line.split(':')
    return { name, uid: Number(uid), gid: Number(gid) }
  })
  const user = users.find(({ name }) => ACCOUNTS.includes(name)) ?? users.find(({ uid }) => uid === OVERFLOW_UID)
  if (user !== undefined) return user
  throw new TenureError(
    'TENURE_DB_NO_ACCOUNT',
    'PostgreSQL does not run as root, and this system has no account "postgres"; create it or start as another user',
  )
}

/** Whether `user` may enter a folder and all above it. Always true for the own user. */
export async function canReach(folder: string, user: UnprivilegedUser | undefined): Promise<boolean> {
  if (user === undefined) return true
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    const { gid, mode, uid } = await stat(at)
    const execute = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001
    if ((mode & execute) === 0) return false
    if (at === path.dirname(at)) return true
  }
}
