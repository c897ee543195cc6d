import type { JsonObject } from '@tenure/kube/model'
import {
  asArray,
  asJsonObject,
  asString,
  dnsLabel,
  dnsSubdomain,
  isJsonObject,
  qualifiedName,
} from '@tenure/kube/model'

import { append } from '../../../model/append.ts'
import { asJsonObjects, isUnset } from '../../../model/json.ts'
import {
  duplicate,
  forbidden,
  invalidEach,
  invalidValue,
  notFoundValue,
  notNegative,
  notSupported,
  required,
} from '../../../schema/field-errors.ts'
import type { FieldError } from '../../../schema/types.ts'
import { configMapKey, envName, headerName, portName, portNumber } from '../../common/names.ts'
import { compareQuantityValues, isNegative, isWhole } from '../../common/quantity.ts'
import { isExtended, isOvercommittable, validateContainerResourceName } from '../resource-names.ts'
import { validateContainerSecurity } from './pod-settings-validation.ts'

const PROTOCOLS = ['SCTP', 'TCP', 'UDP']
const NOT_FOR_INIT = 'may not be set for init containers without restartPolicy=Always'
const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const

/** Validates the containers of a pod spec; `volumes` are the names that containers may mount. */
export function validateContainers(spec: JsonObject, volumes: ReadonlySet<string>, field: string): FieldError[] {
  const containers = asJsonObjects(spec['containers'])
  const errors: FieldError[] = []
  const names = new Set<string>()
  if (containers.length === 0) errors.push(required(`${field}.containers`))
  containers.forEach((container, index) => {
    const path = `${field}.containers[${index}]`
    append(errors, validateContainer(container, volumes, path), validateUnique(container, names, path))
    append(errors, validateLifecycle(container, path), validateProbes(container, path))
  })
  append(errors, validateHostPorts(containers, `${field}.containers`))
  asJsonObjects(spec['initContainers']).forEach((container, index) => {
    const path = `${field}.initContainers[${index}]`
    append(errors, validateContainer(container, volumes, path))
    const policy = container['restartPolicy']
    const policies = ['Always', 'Never', 'OnFailure']
    if (!isUnset(policy) && !policies.includes(asString(policy))) {
      errors.push(notSupported(`${path}.restartPolicy`, policy, policies))
    }
    append(errors, validateUnique(container, names, path))
    append(errors, validateHostPorts([container], `${field}.initContainers`))
    if (policy === 'Always') append(errors, validateLifecycle(container, path), validateProbes(container, path))
    else {
      for (const name of ['lifecycle', ...PROBES]) {
        if (isJsonObject(container[name])) errors.push(forbidden(`${path}.${name}`, NOT_FOR_INIT))
      }
    }
  })
  return errors
}

function validateUnique({ name }: JsonObject, names: Set<string>, field: string): FieldError[] {
  const text = asString(name)
  if (names.has(text)) return [duplicate(`${field}.name`, text)]
  names.add(text)
  return []
}

function validateContainer(container: JsonObject, volumes: ReadonlySet<string>, field: string): FieldError[] {
  const { name, image, terminationMessagePolicy, imagePullPolicy } = container
  const errors: FieldError[] = []
  if (name) errors.push(...invalidEach(`${field}.name`, name, dnsLabel(asString(name))))
  else errors.push(required(`${field}.name`))
  if (!image) errors.push(required(`${field}.image`))
  errors.push(
    ...choice(terminationMessagePolicy, `${field}.terminationMessagePolicy`, ['File', 'FallbackToLogsOnError']),
  )
  append(errors, validatePorts(asJsonObjects(container['ports']), `${field}.ports`))
  append(errors, validateEnv(asJsonObjects(container['env']), `${field}.env`))
  append(errors, validateEnvFrom(asJsonObjects(container['envFrom']), `${field}.envFrom`))
  append(errors, validateMounts(asJsonObjects(container['volumeMounts']), volumes, `${field}.volumeMounts`))
  errors.push(...choice(imagePullPolicy, `${field}.imagePullPolicy`, ['Always', 'IfNotPresent', 'Never']))
  append(errors, validateResources(asJsonObject(container['resources']), `${field}.resources`))
  append(errors, validateContainerSecurity(asJsonObject(container['securityContext']), `${field}.securityContext`))
  return errors
}

function choice(value: unknown, field: string, values: readonly string[]): FieldError[] {
  if (isUnset(value)) return [required(field)]
  return values.includes(asString(value)) ? [] : [notSupported(field, value, values)]
}

function validatePorts(ports: readonly JsonObject[], field: string): FieldError[] {
  const names = new Set<string>()
  return ports.flatMap(({ name, containerPort, hostPort, protocol }, index) => {
    const path = `${field}[${index}]`
    const errors: FieldError[] = []
    if (name) {
      const found = portName(asString(name))
      if (found.length > 0) errors.push(...invalidEach(`${path}.name`, name, found))
      else if (names.has(asString(name))) errors.push(duplicate(`${path}.name`, name))
      else names.add(asString(name))
    }
    if (isUnset(containerPort)) errors.push(required(`${path}.containerPort`))
    else errors.push(...invalidEach(`${path}.containerPort`, containerPort, portNumber(Number(containerPort))))
    if (!isUnset(hostPort)) errors.push(...invalidEach(`${path}.hostPort`, hostPort, portNumber(Number(hostPort))))
    errors.push(...choice(protocol, `${path}.protocol`, PROTOCOLS))
    return errors
  })
}

function validateHostPorts(containers: readonly JsonObject[], field: string): FieldError[] {
  const taken = new Set<string>()
  return containers.flatMap((container, index) =>
    asJsonObjects(container['ports']).flatMap(({ hostPort, hostIP, protocol }, at) => {
      if (isUnset(hostPort)) return []
      const key = `${asString(protocol)}/${asString(hostIP)}/${String(hostPort)}`
      if (taken.has(key)) return [duplicate(`${field}[${index}].ports[${at}].hostPort`, key)]
      taken.add(key)
      return []
    }),
  )
}

export function validatePort(port: unknown, field: string): FieldError[] {
  if (typeof port === 'string') return invalidEach(field, port, portName(port))
  return invalidEach(field, port ?? 0, portNumber(typeof port === 'number' ? port : 0))
}

const ENV_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]
const KNOWN_FIELDS = new Set([
  ...ENV_FIELDS,
  'metadata.annotations',
  'metadata.labels',
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
])

function validateEnv(variables: readonly JsonObject[], field: string): FieldError[] {
  return variables.flatMap(({ name, value, valueFrom }, index) => {
    const path = `${field}[${index}]`
    const errors: FieldError[] = []
    if (name) errors.push(...invalidEach(`${path}.name`, name, envName(asString(name))))
    else errors.push(required(`${path}.name`))
    if (isJsonObject(valueFrom)) append(errors, validateEnvSource(valueFrom, asString(value), `${path}.valueFrom`))
    return errors
  })
}

function validateEnvSource(source: JsonObject, value: string, field: string): FieldError[] {
  const errors: FieldError[] = []
  const names = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef']
  const given = names.filter((name) => isJsonObject(source[name]))
  if (isJsonObject(source['fieldRef'])) append(errors, validateFieldRef(source['fieldRef'], `${field}.fieldRef`))
  if (isJsonObject(source['resourceFieldRef']) && !source['resourceFieldRef']['resource']) {
    errors.push(required(`${field}.resourceFieldRef.resource`))
  }
  for (const ref of ['configMapKeyRef', 'secretKeyRef']) {
    const selector = source[ref]
    if (!isJsonObject(selector)) continue
    const { name, key } = selector
    errors.push(...invalidEach(`${field}.${ref}.name`, name ?? '', dnsSubdomain(asString(name))))
    if (key) errors.push(...invalidEach(`${field}.${ref}.key`, key, configMapKey(asString(key))))
    else errors.push(required(`${field}.${ref}.key`))
  }
  if (given.length === 0) {
    const detail =
      'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`'
    errors.push(invalidValue(field, '', detail))
  } else if (value) errors.push(invalidValue(field, '', 'may not be specified when `value` is not empty'))
  else if (given.length > 1)
    errors.push(invalidValue(field, '', 'may not have more than one field specified at a time'))
  return errors
}

function validateFieldRef({ apiVersion, fieldPath }: JsonObject, field: string): FieldError[] {
  const path = asString(fieldPath)
  if (isUnset(apiVersion)) return [required(`${field}.apiVersion`)]
  if (!path) return [required(`${field}.fieldPath`)]
  const subscript = /^(metadata\.(?:annotations|labels))\['(.*)'\]$/.exec(path)
  if (subscript) {
    const key = subscript[2] ?? ''
    return invalidEach(field, key, qualifiedName(subscript[1] === 'metadata.annotations' ? key.toLowerCase() : key))
  }
  if (!KNOWN_FIELDS.has(path)) {
    const detail = `error converting fieldPath: field label not supported: ${path}`
    return [invalidValue(`${field}.fieldPath`, path, detail)]
  }
  return ENV_FIELDS.includes(path) ? [] : [notSupported(`${field}.fieldPath`, path, ENV_FIELDS)]
}

function validateEnvFrom(sources: readonly JsonObject[], field: string): FieldError[] {
  return sources.flatMap(({ prefix, configMapRef, secretRef }, index) => {
    const path = `${field}[${index}]`
    const errors: FieldError[] = []
    if (prefix) errors.push(...invalidEach(`${path}.prefix`, prefix, envName(asString(prefix))))
    for (const [name, ref] of Object.entries({ configMapRef, secretRef })) {
      if (!isJsonObject(ref)) continue
      if (ref['name'])
        errors.push(...invalidEach(`${path}.${name}.name`, ref['name'], dnsSubdomain(asString(ref['name']))))
      else errors.push(required(`${path}.${name}.name`))
    }
    if (isJsonObject(configMapRef) && isJsonObject(secretRef)) {
      errors.push(invalidValue(field, '', 'may not have more than one field specified at a time'))
    } else if (!isJsonObject(configMapRef) && !isJsonObject(secretRef)) {
      errors.push(invalidValue(field, '', 'must specify one of: `configMapRef` or `secretRef`'))
    }
    return errors
  })
}

function validateMounts(mounts: readonly JsonObject[], volumes: ReadonlySet<string>, field: string): FieldError[] {
  const paths = new Set<unknown>()
  return mounts.flatMap(({ name, mountPath, subPath, subPathExpr }, index) => {
    const path = `${field}[${index}]`
    const errors: FieldError[] = []
    if (!name) errors.push(required(`${path}.name`))
    if (!volumes.has(asString(name))) errors.push(notFoundValue(`${path}.name`, asString(name)))
    if (!mountPath) errors.push(required(`${path}.mountPath`))
    if (paths.has(mountPath)) errors.push(invalidValue(`${path}.mountPath`, mountPath, 'must be unique'))
    paths.add(mountPath)
    for (const [key, value] of Object.entries({ subPath, subPathExpr })) {
      const text = asString(value)
      if (text.startsWith('/')) errors.push(invalidValue(`${field}.${key}`, text, 'must be a relative path'))
      if (text.split('/').includes('..')) errors.push(invalidValue(`${field}.${key}`, text, "must not contain '..'"))
    }
    return errors
  })
}

export function validateResources(resources: JsonObject, field: string): FieldError[] {
  const [limits, requests] = [asJsonObject(resources['limits']), asJsonObject(resources['requests'])]
  const errors: FieldError[] = []
  const check = (name: string, quantity: unknown, path: string): void => {
    append(errors, validateContainerResourceName(name, path))
    if (isNegative(quantity)) errors.push(invalidValue(path, quantity, 'must be greater than or equal to 0'))
    if (isExtended(name) && !isWhole(quantity)) errors.push(invalidValue(path, quantity, 'must be an integer'))
  }
  for (const [name, quantity] of Object.entries(limits)) check(name, quantity, `${field}.limits[${name}]`)
  for (const [name, quantity] of Object.entries(requests)) {
    check(name, quantity, `${field}.requests[${name}]`)
    const mayOvercommit = isOvercommittable(name)
    if (!Object.hasOwn(limits, name)) {
      if (!mayOvercommit) errors.push(required(`${field}.limits`, 'Limit must be set for non overcommitable resources'))
      continue
    }
    const limit = limits[name]
    const order = compareQuantityValues(quantity, limit)
    if (order !== 0 && !mayOvercommit) {
      errors.push(invalidValue(`${field}.requests`, quantity, `must be equal to ${name} limit of ${String(limit)}`))
    } else if (order > 0) {
      const detail = `must be less than or equal to ${name} limit of ${String(limit)}`
      errors.push(invalidValue(`${field}.requests`, quantity, detail))
    }
  }
  return errors
}

function validateLifecycle(container: JsonObject, field: string): FieldError[] {
  const lifecycle = asJsonObject(container['lifecycle'])
  return ['postStart', 'preStop'].flatMap((name) =>
    isJsonObject(lifecycle[name]) ? validateHandler(lifecycle[name], `${field}.lifecycle.${name}`) : [],
  )
}

function validateProbes(container: JsonObject, field: string): FieldError[] {
  return PROBES.flatMap((name) => {
    const probe = container[name]
    if (!isJsonObject(probe)) return []
    const path = `${field}.${name}`
    const errors = validateHandler(probe, path)
    for (const number of [
      'initialDelaySeconds',
      'timeoutSeconds',
      'periodSeconds',
      'successThreshold',
      'failureThreshold',
    ]) {
      errors.push(...notNegative(`${path}.${number}`, probe[number]))
    }
    const grace = probe['terminationGracePeriodSeconds']
    if (typeof grace === 'number' && grace <= 0) {
      errors.push(invalidValue(`${path}.terminationGracePeriodSeconds`, grace, 'must be greater than 0'))
    }
    if (name === 'readinessProbe') {
      if (!isUnset(grace)) {
        const detail = 'must not be set for readinessProbes'
        errors.push(invalidValue(`${path}.terminationGracePeriodSeconds`, grace, detail))
      }
    } else if (probe['successThreshold'] !== 1) {
      errors.push(invalidValue(`${path}.successThreshold`, probe['successThreshold'] ?? 0, 'must be 1'))
    }
    return errors
  })
}

function validateHandler(handler: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = []
  let seen = 0
  for (const name of ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep']) {
    const action = handler[name]
    if (!isJsonObject(action)) continue
    const path = `${field}.${name}`
    if (seen++ > 0) errors.push(forbidden(path, 'may not specify more than 1 handler type'))
    else if (name === 'exec') {
      if (asArray(action['command']).length === 0) errors.push(required(`${path}.command`))
    } else if (name === 'httpGet') append(errors, validateHttpGet(action, path))
    else if (name !== 'sleep') append(errors, validatePort(action['port'], `${path}.port`))
  }
  if (seen === 0) errors.push(required(field, 'must specify a handler type'))
  return errors
}

function validateHttpGet(get: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = []
  if (!get['path']) errors.push(required(`${field}.path`))
  append(errors, validatePort(get['port'], `${field}.port`))
  const schemes = ['HTTP', 'HTTPS']
  if (!schemes.includes(asString(get['scheme'])))
    errors.push(notSupported(`${field}.scheme`, get['scheme'] ?? '', schemes))
  for (const { name } of asJsonObjects(get['httpHeaders'])) {
    errors.push(...invalidEach(`${field}.httpHeaders`, name ?? '', headerName(asString(name))))
  }
  return errors
}
