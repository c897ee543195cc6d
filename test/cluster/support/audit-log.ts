/** The audit log of an API server: which permissions a user needs. */
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'

import type { PolicyRule } from '@tenure/runtime'

/** One request. */
interface AuditEvent {
  readonly verb: string
  readonly user: { readonly username: string }
  readonly objectRef?: {
    readonly apiGroup?: string
    readonly resource?: string
    readonly subresource?: string
    readonly name?: string
  }
  readonly responseStatus?: { readonly code?: number }
}

/** A verb on a resource, of all objects or of one name. */
export interface Permission {
  readonly verb: string
  readonly group: string
  /** With its subresource. */
  readonly resource: string
  /** Undefined: any. */
  readonly name: string | undefined
}

/** The requests of one user. */
export interface AuditedUser {
  /** Permissions without a request that needed them. */
  unused(rules: readonly PolicyRule[]): Promise<readonly string[]>
  /** Requests that were refused for a missing permission. */
  refused(): Promise<readonly string[]>
}

export class AuditLog {
  readonly #directory: string

  private constructor(directory: string) {
    this.#directory = directory
  }

  /** Writes the policy: every request of a service account, without bodies. */
  static async create(directory: string): Promise<AuditLog> {
    const log = new AuditLog(directory)
    const rules = [{ level: 'Metadata', userGroups: ['system:serviceaccounts'] }, { level: 'None' }]
    const policy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', omitStages: ['RequestReceived'], rules }
    await writeFile(log.#policy, JSON.stringify(policy))
    return log
  }

  /** Flags of the API server. */
  get flags(): readonly string[] {
    return [`--audit-policy-file=${this.#policy}`, `--audit-log-path=${this.#file}`]
  }

  user(username: string): AuditedUser {
    const events = (): Promise<readonly AuditEvent[]> => this.#eventsOf(username)
    return {
      async unused(rules) {
        const requests = await events()
        return permissionsIn(rules)
          .filter((permission) => !requests.some((request) => needs(request, permission)))
          .map(described)
      },
      async refused() {
        return (await events())
          .filter(({ responseStatus }) => responseStatus?.code === 403)
          .map((request) => described({ ...partsOf(request), name: request.objectRef?.name }))
      },
    }
  }

  get #policy(): string {
    return path.join(this.#directory, 'audit-policy.json')
  }

  get #file(): string {
    return path.join(this.#directory, 'audit.log')
  }

  async #eventsOf(username: string): Promise<readonly AuditEvent[]> {
    const text = await readFile(this.#file, 'utf8')
    // The last line may be incomplete.
    const lines = text.split('\n').slice(0, -1)
    return lines.map((line) => JSON.parse(line) as AuditEvent).filter(({ user }) => user.username === username)
  }
}

function permissionsIn(rules: readonly PolicyRule[]): readonly Permission[] {
  return rules.flatMap(({ apiGroups = [], resources = [], resourceNames, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        (resourceNames ?? [undefined]).flatMap((name) => verbs.map((verb) => ({ verb, group, resource, name }))),
      ),
    ),
  )
}

function needs(request: AuditEvent, { name, ...permission }: Permission): boolean {
  const { group, resource, verb } = partsOf(request)
  const isSame = group === permission.group && resource === permission.resource && verb === permission.verb
  return isSame && (name === undefined || name === request.objectRef?.name)
}

function partsOf({ objectRef, verb }: AuditEvent): Omit<Permission, 'name'> {
  const { apiGroup = '', resource = '', subresource } = objectRef ?? {}
  return { verb, group: apiGroup, resource: subresource ? `${resource}/${subresource}` : resource }
}

function described({ group, name, resource, verb }: Permission): string {
  return [verb, group ? `${resource}.${group}` : resource, name].filter(Boolean).join(' ')
}
