import { dashboardConfig, httpConfig } from '@tenure/http'
import { leaderElectionConfig, logConfig, probeConfig, type Table, type Values } from '@tenure/runtime/configuration'

const { auth } = httpConfig

/** Every setting of the claims operator. Flags, variables, file keys and defaults are those of the original. */
export const claimsConfig = {
  namespace: {
    type: 'string',
    default: 'default',
    meaning: 'Namespace of the claims and their resources. Create it first: the operator does not.',
  },
  templatePath: {
    type: 'string',
    default: 'config/template/resources.yaml',
    meaning:
      'File with the template of the pool "default", in the syntax of Helm. If the default file does not exist, a Pod with a ' +
      'Service is used. Changes are noticed while the operator runs.',
  },
  valuesPath: {
    type: 'string',
    default: 'config/template/values.yaml',
    meaning: 'File with the values of that template.',
  },
  valuesConfigMapName: {
    type: 'string',
    flag: 'values-configmap-name',
    environment: 'VALUES_CONFIGMAP_NAME',
    meaning: 'ConfigMap with the values, instead of a file. It is watched, and claims are deleted with it.',
  },
  valuesConfigMapKey: {
    type: 'string',
    flag: 'values-configmap-key',
    environment: 'VALUES_CONFIGMAP_KEY',
    default: 'values.yaml',
    meaning: 'Key of that ConfigMap.',
  },
  valuesSchemaPath: {
    type: 'string',
    meaning: 'File with the JSON Schema of the values that callers send with a claim. Default: any values.',
  },
  apiAddr: {
    type: 'address',
    default: ':8080',
    meaning:
      'Address of the HTTP API of claims. On any but a loopback address callers need a token, unless AUTH is none.',
  },
  auth,
  metricsBindAddress: {
    ...probeConfig.metricsBindAddress,
    flag: 'metrics-addr',
    environment: 'METRICS_ADDR',
    file: 'metricsAddr',
    default: ':8081',
  },
  healthProbeBindAddress: {
    ...probeConfig.healthProbeBindAddress,
    flag: 'health-probe-addr',
    environment: 'PROBE_ADDR',
    file: 'probeAddr',
    default: ':8082',
    meaning: 'Address of /healthz and /readyz; 0 serves none.',
  },
  defaultTtl: {
    type: 'duration',
    file: 'defaultTTL',
    default: '10m',
    min: '1s',
    meaning: 'TTL of claims whose caller asks for none.',
  },
  maxTtl: {
    type: 'duration',
    file: 'maxTTL',
    default: '10m',
    min: '1s',
    meaning: 'Longest TTL of a claim, also with renewals. Raised to the default TTL if it is lower.',
  },
  preProvisionClaimsCount: {
    type: 'integer',
    default: 0,
    min: 0,
    max: 10_000,
    meaning: 'Number of claims that the pool "default" keeps ready.',
  },
  reconcileInterval: {
    type: 'duration',
    default: '30s',
    min: '1s',
    meaning: 'Time after which a claim is looked at again although nothing has changed.',
  },
  maxClaimsPerCaller: {
    type: 'integer',
    default: 0,
    min: 0,
    max: 1_000_000,
    meaning: 'Largest number of claims that one caller holds at a time, over all pools. 0: no limit.',
  },
  pools: {
    type: 'structure',
    flag: false,
    environment: false,
    default: {},
    meaning:
      'Named pools: templatePath, valuesPath, valuesConfigMapName, valuesConfigMapKey, valuesSchemaPath, count, min, max, ' +
      'spare, cooldown, defaultTTL and maxTTL of each. Settings that a pool lacks are those of the pool "default".',
  },
  ...leaderElectionConfig,
  ...logConfig,
  ...dashboardConfig,
} as const satisfies Table

export type ClaimsSettings = Values<typeof claimsConfig>
