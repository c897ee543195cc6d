import type { Environment } from '@marcbachmann/cel-js'

import { charge } from '../cost.ts'

/** An access check of a condition. */
export interface AccessCheck {
  /** Undefined: the user of the request. */
  readonly serviceAccount: { readonly namespace: string; readonly name: string } | undefined
  readonly verb: string
  /** The path of a non-resource request. */
  readonly path: string
  readonly resource?: {
    readonly group: string
    readonly plural: string
    readonly subresource: string
    readonly namespace: string | undefined
    readonly name: string | undefined
  }
}

export type CheckAccess = (check: AccessCheck) => { readonly allowed: boolean; readonly reason: string }

/** The cost of one check, as in Kubernetes, in cost units. */
const COST = 350_000

/** The variable `authorizer`. */
export class CelAuthorizer {
  readonly #checkAccess: CheckAccess
  readonly #account: AccessCheck['serviceAccount']

  constructor(checkAccess: CheckAccess, account?: AccessCheck['serviceAccount']) {
    this.#checkAccess = checkAccess
    this.#account = account
  }

  serviceAccount(namespace: string, name: string): CelAuthorizer {
    return new CelAuthorizer(this.#checkAccess, { namespace, name })
  }

  path(path: string): PathCheck {
    return new PathCheck((verb) => this.#decide({ verb, path }))
  }

  group(group: string): GroupCheck {
    const decide: Decide = (verb, resource) => this.#decide({ verb, path: '', resource })
    return new GroupCheck((plural) => new ResourceCheck(decide, { group, plural }))
  }

  #decide(check: Omit<AccessCheck, 'serviceAccount'>): CelDecision {
    charge(COST)
    const { allowed, reason } = this.#checkAccess({ ...check, serviceAccount: this.#account })
    return new CelDecision(allowed, reason)
  }
}

type Decide = (verb: string, resource: NonNullable<AccessCheck['resource']>) => CelDecision

class PathCheck {
  readonly check: (verb: string) => CelDecision

  constructor(check: (verb: string) => CelDecision) {
    this.check = check
  }
}

class GroupCheck {
  readonly resource: (plural: string) => ResourceCheck

  constructor(resource: (plural: string) => ResourceCheck) {
    this.resource = resource
  }
}

type ResourceAttributes = Partial<NonNullable<AccessCheck['resource']>> & {
  readonly group: string
  readonly plural: string
}

class ResourceCheck {
  readonly #decide: Decide
  readonly #attributes: ResourceAttributes

  constructor(decide: Decide, attributes: ResourceAttributes) {
    this.#decide = decide
    this.#attributes = attributes
  }

  with(part: Partial<ResourceAttributes>): ResourceCheck {
    return new ResourceCheck(this.#decide, { ...this.#attributes, ...part })
  }

  check(verb: string): CelDecision {
    return this.#decide(verb, { subresource: '', namespace: undefined, name: undefined, ...this.#attributes })
  }
}

class CelDecision {
  readonly allowed: boolean
  readonly reason: string

  constructor(allowed: boolean, reason: string) {
    this.allowed = allowed
    this.reason = reason
  }
}

const AUTHORIZER = 'kubernetes.authorization.Authorizer'
const PATH = 'kubernetes.authorization.PathCheck'
const GROUP = 'kubernetes.authorization.GroupCheck'
const RESOURCE = 'kubernetes.authorization.ResourceCheck'
const DECISION = 'kubernetes.authorization.Decision'

/** Registers the variable `authorizer` and its functions. */
export function registerAuthorizer(environment: Environment): void {
  const types = [
    [AUTHORIZER, CelAuthorizer],
    [PATH, PathCheck],
    [GROUP, GroupCheck],
    [RESOURCE, ResourceCheck],
    [DECISION, CelDecision],
  ] as const
  for (const [name, ctor] of types) environment.registerType(name, { ctor, fields: {} })
  environment
    .registerFunction(`${AUTHORIZER}.path(string): ${PATH}`, (on: CelAuthorizer, path: string) => on.path(path))
    .registerFunction(`${AUTHORIZER}.group(string): ${GROUP}`, (on: CelAuthorizer, group: string) => on.group(group))
    .registerFunction(
      `${AUTHORIZER}.serviceAccount(string, string): ${AUTHORIZER}`,
      (on: CelAuthorizer, namespace: string, name: string) => on.serviceAccount(namespace, name),
    )
    .registerFunction(`${PATH}.check(string): ${DECISION}`, (on: PathCheck, verb: string) => on.check(verb))
    .registerFunction(`${GROUP}.resource(string): ${RESOURCE}`, (on: GroupCheck, plural: string) => on.resource(plural))
    .registerFunction(`${RESOURCE}.subresource(string): ${RESOURCE}`, (on: ResourceCheck, subresource: string) =>
      on.with({ subresource }),
    )
    .registerFunction(`${RESOURCE}.namespace(string): ${RESOURCE}`, (on: ResourceCheck, namespace: string) =>
      on.with({ namespace: namespace || undefined }),
    )
    .registerFunction(`${RESOURCE}.name(string): ${RESOURCE}`, (on: ResourceCheck, name: string) =>
      on.with({ name: name || undefined }),
    )
    .registerFunction(`${RESOURCE}.check(string): ${DECISION}`, (on: ResourceCheck, verb: string) => on.check(verb))
    .registerFunction(`${DECISION}.allowed(): bool`, (on: CelDecision) => on.allowed)
    .registerFunction(`${DECISION}.reason(): string`, (on: CelDecision) => on.reason)
    // The embedded authorizer never fails.
    .registerFunction(`${DECISION}.errored(): bool`, () => false)
    .registerFunction(`${DECISION}.error(): string`, () => '')
  environment.registerVariable('authorizer', AUTHORIZER)
}
