import type { JsonObject } from '@tenure/kube/model'
import { asArray, asJsonObject, asString, dnsSubdomain, isJsonObject, maxLengthError } from '@tenure/kube/model'

import { append } from '../../../model/append.ts'
import { asJsonObjects, isUnset } from '../../../model/json.ts'
import {
  duplicate,
  invalidEach,
  invalidStruct,
  invalidValue,
  notSupported,
  required,
} from '../../../schema/field-errors.ts'
import type { FieldError } from '../../../schema/types.ts'
import { validateAddress } from '../../common/ip-validation.ts'
import { mustBeBetween } from '../../common/names.ts'

const MAX_ID = 2_147_483_647
const SYSCTL = String.raw`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`
const sysctl = new RegExp(SYSCTL)
const MAX_NAME_LENGTH = 253
const MAX_NAMESERVERS = 3
const MAX_SEARCH_PATHS = 32
const PROFILES = ['Localhost', 'RuntimeDefault', 'Unconfined']
const SEARCH = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
const searchPath = new RegExp(String.raw`^${SEARCH}(\.${SEARCH})*$`)
const SEARCH_RULE = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${SEARCH}${String.raw`(\.${SEARCH})*`}')`

function validateId(id: unknown, field: string): FieldError[] {
  if (typeof id !== 'number' || (id >= 0 && id <= MAX_ID)) return []
  return [invalidValue(field, id, mustBeBetween(0, MAX_ID))]
}

/** Validates the security context of a pod. */
export function validatePodSecurity(context: JsonObject, field: string): FieldError[] {
  const { fsGroupChangePolicy: policy, seccompProfile, appArmorProfile } = context
  const policies = ['Always', 'OnRootMismatch']
  return [
    ...['fsGroup', 'runAsUser', 'runAsGroup'].flatMap((name) => validateId(context[name], `${field}.${name}`)),
    ...asArray(context['supplementalGroups']).flatMap((id, index) =>
      validateId(id, `${field}.supplementalGroups[${index}]`),
    ),
    ...validateSysctls(asJsonObjects(context['sysctls']), `${field}.sysctls`),
    ...(isUnset(policy) || policies.includes(asString(policy))
      ? []
      : [notSupported(`${field}.fsGroupChangePolicy`, policy, policies)]),
    ...validateProfile(seccompProfile, `${field}.seccompProfile`, 'seccomp'),
    ...validateProfile(appArmorProfile, `${field}.appArmorProfile`, 'AppArmor'),
  ]
}

function validateSysctls(settings: readonly JsonObject[], field: string): FieldError[] {
  const seen = new Set<string>()
  return settings.flatMap(({ name: given }, index) => {
    const path = `${field}[${index}].name`
    const name = asString(given)
    const errors: FieldError[] = []
    if (!name) errors.push(required(path))
    else if (name.length > MAX_NAME_LENGTH || !sysctl.test(name)) {
      errors.push(invalidValue(path, name, `must have at most ${MAX_NAME_LENGTH} characters and match regex ${SYSCTL}`))
    } else if (seen.has(name)) errors.push(duplicate(path, name))
    seen.add(name)
    return errors
  })
}

function validateProfile(profile: unknown, field: string, what: string): FieldError[] {
  if (!isJsonObject(profile)) return []
  const { type, localhostProfile } = profile
  if (isUnset(type)) return [required(`${field}.type`, 'type is required when seccompProfile is set')]
  if (!PROFILES.includes(asString(type))) return [notSupported(`${field}.type`, type, PROFILES)]
  if (type === 'Localhost') {
    if (localhostProfile) return []
    return [required(`${field}.localhostProfile`, `must be set when ${what} type is Localhost`)]
  }
  if (isUnset(localhostProfile)) return []
  const detail = `can only be set when ${what} type is Localhost`
  return [invalidValue(`${field}.localhostProfile`, localhostProfile, detail)]
}

/** Validates the security context of a container. */
export function validateContainerSecurity(context: JsonObject, field: string): FieldError[] {
  const { procMount, privileged, allowPrivilegeEscalation } = context
  const mounts = ['Default', 'Unmasked']
  const errors = ['runAsUser', 'runAsGroup'].flatMap((name) => validateId(context[name], `${field}.${name}`))
  if (!isUnset(procMount) && !mounts.includes(asString(procMount))) {
    errors.push(notSupported(`${field}.procMount`, procMount, mounts))
  }
  append(errors, validateProfile(context['seccompProfile'], `${field}.seccompProfile`, 'seccomp'))
  if (allowPrivilegeEscalation === false && privileged === true) {
    const detail = 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'
    errors.push(invalidStruct(field, shownSecurity(context), detail))
  }
  append(errors, validateProfile(context['appArmorProfile'], `${field}.appArmorProfile`, 'AppArmor'))
  return errors
}

function fields(value: unknown, ...names: readonly string[]): JsonObject | null {
  if (!isJsonObject(value)) return null
  return Object.fromEntries(names.map((name) => [capitalized(name), value[name] ?? null]))
}

/** The struct as Go prints it. */
function shownSecurity(context: JsonObject): JsonObject {
  const plain = (name: string): [string, unknown] => [capitalized(name), context[name] ?? null]
  const profile = (name: string): [string, unknown] => [
    capitalized(name),
    fields(context[name], 'type', 'localhostProfile'),
  ]
  return Object.fromEntries([
    ['Capabilities', fields(context['capabilities'], 'add', 'drop')],
    plain('privileged'),
    ['SELinuxOptions', context['seLinuxOptions'] ?? null],
    plain('windowsOptions'),
    ...['runAsUser', 'runAsGroup', 'runAsNonRoot', 'readOnlyRootFilesystem', 'allowPrivilegeEscalation'].map(plain),
    plain('procMount'),
    profile('seccompProfile'),
    profile('appArmorProfile'),
  ])
}

const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

export function validateDns(spec: JsonObject, field: string): FieldError[] {
  const isOwn = spec['dnsPolicy'] === 'None'
  const config = spec['dnsConfig']
  const path = `${field}.dnsConfig`
  if (!isJsonObject(config)) {
    return isOwn ? [required(path, 'must provide `dnsConfig` when `dnsPolicy` is None')] : []
  }
  const [servers, searches] = [asArray(config['nameservers']), asArray(config['searches'])]
  const errors: FieldError[] = []
  if (isOwn && servers.length === 0) {
    const detail = 'must provide at least one DNS nameserver when `dnsPolicy` is None'
    errors.push(required(`${path}.nameservers`, detail))
  }
  if (servers.length > MAX_NAMESERVERS) {
    const detail = `must not have more than ${MAX_NAMESERVERS} nameservers`
    errors.push(invalidValue(`${path}.nameservers`, servers, detail))
  }
  servers.forEach((server, index) => append(errors, validateAddress(asString(server), `${path}.nameservers[${index}]`)))
  if (searches.length > MAX_SEARCH_PATHS) {
    errors.push(invalidValue(`${path}.searches`, searches, `must not have more than ${MAX_SEARCH_PATHS} search paths`))
  }
  searches.forEach((search, index) => {
    // A search path may end with a dot, or be a single dot.
    const name = asString(search).replace(/\.$/, '')
    if (search === '.') return
    const found = [
      ...(name.length > MAX_NAME_LENGTH ? [maxLengthError(MAX_NAME_LENGTH)] : []),
      ...(searchPath.test(name) ? [] : [SEARCH_RULE]),
    ]
    errors.push(...invalidEach(`${path}.searches[${index}]`, name, found))
  })
  asJsonObjects(config['options']).forEach(({ name }, index) => {
    if (!name) errors.push(required(`${path}.options[${index}]`, 'must not be empty'))
  })
  return errors
}

export function validateHostAliases(aliases: readonly JsonObject[], field: string): FieldError[] {
  return aliases.flatMap((alias, index) => [
    ...validateAddress(asString(alias['ip']), `${field}[${index}].ip`),
    ...asArray(alias['hostnames']).flatMap((name, at) =>
      invalidEach(`${field}[${index}].hostnames[${at}]`, name, dnsSubdomain(asString(name))),
    ),
  ])
}

export function validateSystem(system: unknown, field: string): FieldError[] {
  if (!isJsonObject(system)) return []
  const name = asString(asJsonObject(system)['name'])
  if (!name) return [required(`${field}.name`)]
  const systems = ['linux', 'windows']
  return systems.includes(name) ? [] : [notSupported(field, name, systems)]
}

/** Validates the images of a pod. kube-apiserver does not check those of a template. */
export function validateImages(spec: JsonObject, field: string): FieldError[] {
  return ['containers', 'initContainers'].flatMap((list) =>
    asJsonObjects(spec[list]).flatMap(({ image }, index) => {
      const text = asString(image)
      if (text === text.trim()) return []
      return [invalidValue(`${field}.${list}[${index}].image`, text, 'must not have leading or trailing whitespace')]
    }),
  )
}
