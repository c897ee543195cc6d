import type { JSONSchemaProps } from '@tenure/kube/kinds'
import { ACCESS_MODES, PHASES, PROTOCOLS, RUNS, STRATEGIES } from './index.ts'

type Properties = Readonly<Record<string, JSONSchemaProps>>

/** Variables, annotations or arguments: more than a container can sensibly have. */
const MAX_ENTRIES = 1_000
/** Ports or headers. */
const MAX_ITEMS = 100
/** In characters: a variable or an argument of a process on Linux. */
const MAX_TEXT_LENGTH = 131_072
/** In characters: an annotation, as of all annotations of an object. */
const MAX_ANNOTATION_LENGTH = 262_144
/** In characters: names of objects, hosts and keys. */
const MAX_NAME_LENGTH = 253
/** In characters. */
const MAX_IMAGE_LENGTH = 1_024
/** In characters. */
const MAX_PATH_LENGTH = 4_096

function object(properties: Properties, required: readonly string[] = [], description?: string): JSONSchemaProps {
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    ...(required.length > 0 && { required }),
    properties,
  }
}

function text(description: string, more: JSONSchemaProps = {}): JSONSchemaProps {
  return { type: 'string', description, ...more }
}

function integer(description: string, minimum: number, maximum?: number): JSONSchemaProps {
  return { type: 'integer', description, format: 'int32', minimum, ...(maximum !== undefined && { maximum }) }
}

function list(items: JSONSchemaProps, maxItems: number, description: string): JSONSchemaProps {
  return { type: 'array', description, maxItems, items }
}

/** A map of texts. */
function texts(description: string, maxLength: number): JSONSchemaProps {
  return {
    type: 'object',
    description,
    maxProperties: MAX_ENTRIES,
    additionalProperties: { type: 'string', maxLength },
  }
}

/** A list whose items are identified by `keys`, so that several field managers can own items of it. */
function keyedList(
  keys: readonly string[],
  items: JSONSchemaProps,
  maxItems: number,
  description: string,
): JSONSchemaProps {
  return { ...list(items, maxItems, description), 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys }
}

/** DNS-1123 label. */
export const DNS_LABEL = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'
const HOST = '^(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$'
const PORT_NAME = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'

function quantity(description: string): JSONSchemaProps {
  return {
    description,
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    pattern: '^[+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+|[KMGTPE]i|[numkMGTPE])?$',
    'x-kubernetes-int-or-string': true,
  }
}

const argument: JSONSchemaProps = { type: 'string', maxLength: MAX_TEXT_LENGTH }

const port = (description: string): JSONSchemaProps => integer(description, 1, 65_535)

const amounts = (description: string): JSONSchemaProps =>
  object(
    {
      cpu: quantity('Processor time, in cores: 500m is half of one.'),
      memory: quantity('Memory in bytes: 256Mi.'),
      'ephemeral-storage': quantity('Space on the local disk in bytes: 1Gi.'),
    },
    [],
    description,
  )

const keyReference = (what: string): JSONSchemaProps =>
  object(
    {
      name: text(`Name of the ${what}.`, { maxLength: MAX_NAME_LENGTH }),
      key: text(`Key in the ${what}.`, { maxLength: MAX_NAME_LENGTH }),
      optional: { type: 'boolean', description: 'Whether the key may be missing.' },
    },
    ['key'],
    `An entry of a ${what}.`,
  )

const env = keyedList(
  ['name'],
  object(
    {
      name: text('Name of the variable.', { minLength: 1, maxLength: MAX_NAME_LENGTH }),
      value: text('Value of the variable; $(OTHER) refers to another variable.', { maxLength: MAX_TEXT_LENGTH }),
      valueFrom: object(
        {
          configMapKeyRef: keyReference('ConfigMap'),
          secretKeyRef: keyReference('Secret'),
          fieldRef: object(
            { apiVersion: text('Version of the path. Default v1.'), fieldPath: text('Path: metadata.name.') },
            ['fieldPath'],
            'A field of the pod.',
          ),
          resourceFieldRef: object(
            {
              containerName: text('Name of the container.'),
              resource: text('Resource: limits.cpu.'),
              divisor: quantity('Unit of the value. Default 1.'),
            },
            ['resource'],
            'A request or limit of the container.',
          ),
        },
        [],
        'Source of the value, instead of `value`.',
      ),
    },
    ['name'],
  ),
  MAX_ENTRIES,
  'Environment variables; they override config.',
)

const probePort: JSONSchemaProps = {
  description: 'Port of the container, by number or name.',
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  'x-kubernetes-int-or-string': true,
}

const probe = (description: string): JSONSchemaProps =>
  object(
    {
      httpGet: object(
        {
          path: text('Path of the request. Default /.', { maxLength: MAX_PATH_LENGTH }),
          port: probePort,
          host: text("Host of the request. Default: the pod's address."),
          scheme: text('HTTP or HTTPS. Default HTTP.', { enum: ['HTTP', 'HTTPS'] }),
          httpHeaders: list(
            object(
              {
                name: text('Name of the header.', { maxLength: MAX_NAME_LENGTH }),
                value: text('Value of the header.', { maxLength: MAX_PATH_LENGTH }),
              },
              ['name', 'value'],
            ),
            MAX_ITEMS,
            'Headers of the request.',
          ),
        },
        ['port'],
        'Healthy if the response is 2xx or 3xx.',
      ),
      tcpSocket: object(
        { port: probePort, host: text("Host to connect to. Default: the pod's address.") },
        ['port'],
        'Healthy if the connection opens.',
      ),
      grpc: object(
        { port: port('Port of the service.'), service: text('Name given in the health check.') },
        ['port'],
        'Healthy by the gRPC health protocol.',
      ),
      exec: object(
        { command: list(argument, MAX_ENTRIES, 'Command to run.') },
        [],
        'Healthy if the command exits with 0.',
      ),
      initialDelaySeconds: integer('Seconds before the first check.', 0),
      periodSeconds: integer('Seconds between checks. Default 10.', 1),
      timeoutSeconds: integer('Seconds until a check times out. Default 1.', 1),
      successThreshold: integer('Successes in a row that mean healthy. Default 1.', 1),
      failureThreshold: integer('Failures in a row that mean unhealthy. Default 3.', 1),
      terminationGracePeriodSeconds: { ...integer('Seconds to terminate after a failed probe.', 1), format: 'int64' },
    },
    [],
    description,
  )

const ports = keyedList(
  ['port', 'protocol'],
  object(
    {
      name: text('Name of the port. Default: protocol and port, tcp-80.', { maxLength: 15, pattern: PORT_NAME }),
      port: port('Port of the Service.'),
      targetPort: port('Port of the container. Default: port.'),
      protocol: text('TCP, UDP or SCTP.', { enum: PROTOCOLS, default: 'TCP' }),
    },
    ['port'],
  ),
  MAX_ITEMS,
  'Ports of a Service in front of the pods.',
)

const autoscaling: JSONSchemaProps = {
  ...object(
    {
      minReplicas: integer('Minimum number of pods. Default 1.', 1, 100),
      maxReplicas: integer('Maximum number of pods.', 1, 100),
      targetCPUUtilizationPercentage: integer('Percentage of the requested CPU. Default 80, if no target is given.', 1),
      targetMemoryUtilizationPercentage: integer('Percentage of the requested memory.', 1),
    },
    ['maxReplicas'],
    'A HorizontalPodAutoscaler sets the number of pods, instead of replicas.',
  ),
  'x-kubernetes-validations': [
    {
      rule: '!has(self.minReplicas) || self.minReplicas <= self.maxReplicas',
      message: 'minReplicas must be at most maxReplicas',
    },
  ],
}

const ingress = object(
  {
    host: text('Host name: shop.example.com.', { minLength: 1, maxLength: 253, pattern: HOST }),
    path: text('Path prefix. Default /.', { maxLength: MAX_PATH_LENGTH, pattern: '^/' }),
    className: text("Ingress class. Default: the cluster's default class.", { maxLength: MAX_NAME_LENGTH }),
    tlsSecretName: text('Secret with the certificate. Default: no TLS.', { maxLength: MAX_NAME_LENGTH }),
  },
  ['host'],
  'An Ingress to the first of the ports.',
)

const persistence = object(
  {
    size: quantity('Size: 10Gi. It can grow if the storage class allows it, and never shrink.'),
    mountPath: text('Mount path in the pods.', { minLength: 1, maxLength: MAX_PATH_LENGTH, pattern: '^/' }),
    storageClassName: text("Storage class. Default: the cluster's default class.", { maxLength: MAX_NAME_LENGTH }),
    accessModes: list(
      text('Access mode.', { enum: ACCESS_MODES }),
      ACCESS_MODES.length,
      'Access modes. Default ReadWriteOnce.',
    ),
  },
  ['size', 'mountPath'],
  'A PersistentVolumeClaim, mounted into every pod. It stays until the Application is deleted, even if this field is removed.',
)

export const specSchema: JSONSchemaProps = {
  description: 'The workload, as its owner wants it.',
  ...object(
    {
      replicas: integer('Number of pods.', 0, 100),
      image: text('Image of the container.', { minLength: 1, maxLength: MAX_IMAGE_LENGTH }),
      strategy: text('How new pods replace old ones.', { enum: STRATEGIES, default: 'RollingUpdate' }),
      config: texts('Environment variables, stored in a ConfigMap. A change rolls the pods.', MAX_TEXT_LENGTH),
      resources: object(
        { requests: amounts('Resources reserved for each pod.'), limits: amounts('Maximum resources of each pod.') },
        [],
        'Resources of each pod.',
      ),
      run: text('Always: kept running. Once: run to completion.', { enum: RUNS }),
      command: list(argument, MAX_ENTRIES, 'Replaces the entry point of the image.'),
      args: list(argument, MAX_ENTRIES, 'Replaces the arguments of the image.'),
      env,
      podAnnotations: texts('Annotations of the pods.', MAX_ANNOTATION_LENGTH),
      ports,
      probes: object(
        {
          liveness: probe('If this probe fails, the container restarts.'),
          readiness: probe('While this probe fails, the pod gets no requests.'),
          startup: probe('Until this probe succeeds, the others wait.'),
        },
        [],
        'Probes of the container.',
      ),
      autoscaling,
      ingress,
      persistence,
    },
    ['replicas', 'image'],
  ),
  'x-kubernetes-validations': [
    { rule: '!has(self.ingress) || (has(self.ports) && size(self.ports) > 0)', message: 'ingress needs ports' },
    {
      rule: "!has(self.run) || self.run != 'Once' || !has(self.autoscaling)",
      message: 'a run Once cannot be autoscaled',
    },
  ],
}

const conditions = keyedList(
  ['type'],
  object(
    {
      type: text('Type of the condition.', { maxLength: 316 }),
      status: text('True, False or Unknown.', { enum: ['True', 'False', 'Unknown'] }),
      observedGeneration: {
        type: 'integer',
        format: 'int64',
        minimum: 0,
        description: 'Generation that the condition describes.',
      },
      lastTransitionTime: text('Time of the last change of status.', { format: 'date-time' }),
      reason: text('Reason in UpperCamelCase.', { minLength: 1, maxLength: 1024 }),
      message: text('Human-readable message.', { maxLength: 32_768 }),
    },
    ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
  ),
  MAX_ITEMS,
  'Conditions: Ready, Progressing.',
)

export const statusSchema: JSONSchemaProps = {
  description: 'State of the workload, written by the operator.',
  ...object({
    observedGeneration: { type: 'integer', format: 'int64', description: 'Generation that this status describes.' },
    replicas: { type: 'integer', format: 'int32', description: 'Number of pods.' },
    readyReplicas: { type: 'integer', format: 'int32', description: 'Number of ready pods.' },
    labelSelector: text('Selector of the pods, for autoscalers.'),
    phase: text('Summary of the state.', { enum: PHASES }),
    conditions,
  }),
  // The API server fills this in on create, so that a new Application shows a phase without a write.
  default: { observedGeneration: -1, phase: 'Pending' },
}
