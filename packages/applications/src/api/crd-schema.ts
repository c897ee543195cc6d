import type { JSONSchemaProps } from '@tenure/kube/kinds'
import { ACCESS_MODES, PHASES, PROTOCOLS, RUNS, STRATEGIES } from './index.ts'

type Properties = Readonly<Record<string, JSONSchemaProps>>

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

function list(items: JSONSchemaProps, description: string): JSONSchemaProps {
  return { type: 'array', description, items }
}

/** A list whose items are told apart by `keys`, so that several owners can each keep their own. */
function keyedList(keys: readonly string[], items: JSONSchemaProps, description: string): JSONSchemaProps {
  return { ...list(items, description), 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys }
}

/** DNS-1123: what names of Services, labels' values and host names are made of. */
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
      name: text(`Name of the ${what}.`),
      key: text(`Which entry of the ${what}.`),
      optional: { type: 'boolean', description: 'Whether it may be missing.' },
    },
    ['key'],
    `An entry of a ${what}.`,
  )

const env = keyedList(
  ['name'],
  object(
    {
      name: text('Name of the variable.', { minLength: 1 }),
      value: text('Its value; $(OTHER) stands for another variable.'),
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
              containerName: text('Which container.'),
              resource: text('Which resource: limits.cpu.'),
              divisor: quantity('Unit of the value. Default 1.'),
            },
            ['resource'],
            'An amount that the container requests or is limited to.',
          ),
        },
        [],
        'Where the value comes from, instead of `value`.',
      ),
    },
    ['name'],
  ),
  'Environment variables; they win over config.',
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
          path: text('Path of the request. Default /.'),
          port: probePort,
          host: text("Host to ask. Default: the pod's address."),
          scheme: text('HTTP or HTTPS. Default HTTP.', { enum: ['HTTP', 'HTTPS'] }),
          httpHeaders: list(
            object({ name: text('Name of the header.'), value: text('Its value.') }, ['name', 'value']),
            'Headers of the request.',
          ),
        },
        ['port'],
        'Healthy if the answer is 2xx or 3xx.',
      ),
      tcpSocket: object(
        { port: probePort, host: text("Default: the pod's address.") },
        ['port'],
        'Healthy if it connects.',
      ),
      grpc: object(
        { port: port('Port of the service.'), service: text('Name given in the health check.') },
        ['port'],
        'Healthy by the gRPC health protocol.',
      ),
      exec: object({ command: list({ type: 'string' }, 'What to run.') }, [], 'Healthy if it ends with 0.'),
      initialDelaySeconds: integer('Wait before the first check.', 0),
      periodSeconds: integer('Time between checks. Default 10.', 1),
      timeoutSeconds: integer('Time for an answer. Default 1.', 1),
      successThreshold: integer('Successes in a row that count. Default 1.', 1),
      failureThreshold: integer('Failures in a row that count. Default 3.', 1),
      terminationGracePeriodSeconds: { ...integer('Time to end when it fails.', 1), format: 'int64' },
    },
    [],
    description,
  )

const ports = keyedList(
  ['port', 'protocol'],
  object(
    {
      name: text('Default: the protocol and the port, tcp-80.', { maxLength: 15, pattern: PORT_NAME }),
      port: port('Port of the Service.'),
      targetPort: port('Port of the container. Default: port.'),
      protocol: text('TCP, UDP or SCTP.', { enum: PROTOCOLS, default: 'TCP' }),
    },
    ['port'],
  ),
  'Ports of a Service in front of the pods.',
)

const autoscaling: JSONSchemaProps = {
  ...object(
    {
      minReplicas: integer('Fewest pods. Default 1.', 1, 100),
      maxReplicas: integer('Most pods.', 1, 100),
      targetCPUUtilizationPercentage: integer('Of the requested CPU. Default 80, if no target is given.', 1),
      targetMemoryUtilizationPercentage: integer('Of the requested memory.', 1),
    },
    ['maxReplicas'],
    'A HorizontalPodAutoscaler decides about the number of pods, instead of replicas.',
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
    path: text('What begins with it comes here. Default /.', { pattern: '^/' }),
    className: text("Which ingress controller. Default: the cluster's."),
    tlsSecretName: text('Secret with the certificate. Default: no TLS.'),
  },
  ['host'],
  'An Ingress to the first of the ports.',
)

const persistence = object(
  {
    size: quantity('How much: 10Gi. It can grow if the class allows it, and never shrink.'),
    mountPath: text('Where pods see it.', { minLength: 1, pattern: '^/' }),
    storageClassName: text("Which kind of storage. Default: the cluster's."),
    accessModes: list(text('Who may mount it.', { enum: ACCESS_MODES }), 'Default ReadWriteOnce.'),
  },
  ['size', 'mountPath'],
  'A PersistentVolumeClaim, mounted into every pod. It stays until the Application is deleted, also if this is taken out.',
)

/** What people write. */
export const specSchema: JSONSchemaProps = {
  ...object(
    {
      replicas: integer('How many pods.', 0, 100),
      image: text('What they run.', { minLength: 1 }),
      strategy: text('How new pods take the place of old ones.', { enum: STRATEGIES, default: 'RollingUpdate' }),
      config: {
        type: 'object',
        description: 'Environment variables, kept in a ConfigMap. A change rolls the pods.',
        additionalProperties: { type: 'string' },
      },
      resources: object(
        { requests: amounts('What each pod is sure to get.'), limits: amounts('What each pod may use at most.') },
        [],
        'Of each pod.',
      ),
      run: text('Always: kept running. Once: run to its end.', { enum: RUNS }),
      command: list({ type: 'string' }, "Instead of the image's entry point."),
      args: list({ type: 'string' }, "Instead of the image's arguments."),
      env,
      podAnnotations: {
        type: 'object',
        description: 'Annotations of the pods.',
        additionalProperties: { type: 'string' },
      },
      ports,
      probes: object(
        {
          liveness: probe('When it fails, the container is started again.'),
          readiness: probe('While it fails, the pod gets no requests.'),
          startup: probe('Until it succeeds, the others wait.'),
        },
        [],
        'How the health of a pod is told.',
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
      message: 'a run Once can not be autoscaled',
    },
  ],
}

const conditions = keyedList(
  ['type'],
  object(
    {
      type: text('What it is about.', { maxLength: 316 }),
      status: text('Whether it is so.', { enum: ['True', 'False', 'Unknown'] }),
      observedGeneration: { type: 'integer', format: 'int64', minimum: 0, description: 'Of which generation.' },
      lastTransitionTime: text('Since when.', { format: 'date-time' }),
      reason: text('Why, in one word.', { minLength: 1, maxLength: 1024 }),
      message: text('Why, for people.', { maxLength: 32_768 }),
    },
    ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
  ),
  'What holds of the workload: Ready, Progressing.',
)

/** What we report. */
export const statusSchema: JSONSchemaProps = {
  ...object({
    observedGeneration: { type: 'integer', format: 'int64', description: 'The generation this is about.' },
    replicas: { type: 'integer', format: 'int32', description: 'Pods there are.' },
    readyReplicas: { type: 'integer', format: 'int32', description: 'Pods that are ready.' },
    labelSelector: text('Which pods, as text, for autoscalers.'),
    phase: text('The short answer.', { enum: PHASES }),
    conditions,
  }),
  // Shown from the first moment, without a write: nothing has been observed yet.
  default: { observedGeneration: -1, phase: 'Pending' },
}
