import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { TenureError } from '@tenure/kube'

/** The account that PostgreSQL runs as, because it refuses to run as root. */
export interface UnprivilegedUser {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/** Accounts that systems have, in the order of preference. No account is created. */
const ACCOUNTS = ['postgres', 'nobody']

/** The account to switch to; undefined if this process is not root. */
export async function unprivilegedUser(): Promise<UnprivilegedUser | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  for (const account of ACCOUNTS) {
    const [name, , uid, gid] = lines.find(([name]) => name === account) ?? []
    if (name !== undefined && Number(uid) > 0) return { name, uid: Number(uid), gid: Number(gid) }
  }
  throw new TenureError(
    'TENURE_DB_NO_ACCOUNT',
    'PostgreSQL does not run as root, and this system has neither an account "postgres" nor "nobody"; create one or start as another user',
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
