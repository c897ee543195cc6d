import { httpConfig } from '@tenure/http'
import {
  definitionConfig,
  leaderElectionConfig,
  logConfig,
  type Table,
  type Values,
  webhookConfig,
} from '@tenure/runtime/configuration'
import { defaultImagePolicy, type ImagePolicy } from './admission/image-policy.ts'
import { OPERATOR } from './api/index.ts'

/** Every setting of the applications operator. */
export const applicationsConfig = {
  ...httpConfig,
  ...leaderElectionConfig,
  readyzLeaderOnly: {
    type: 'boolean',
    default: false,
    meaning: 'Answer /readyz with 503 on replicas that are not the leader, although they serve reads.',
  },
  namespace: {
    clusterOnly: true,
    type: 'string',
    environment: 'WATCH_NAMESPACE',
    meaning: 'Namespace whose Applications are managed. Default: all namespaces.',
  },
  concurrency: {
    type: 'integer',
    default: 8,
    min: 1,
    max: 1_000,
    meaning: 'Number of Applications reconciled at once.',
  },
  ...definitionConfig,
  createNamespaces: {
    type: 'boolean',
    default: false,
    meaning: 'Create the namespace of a posted Application if it does not exist. On with `tenure start`.',
  },
  eventHistoryLimit: {
    type: 'integer',
    default: 10_000,
    min: 1,
    max: 1_000_000,
    meaning: 'Maximum number of events that /events keeps.',
  },
  blockedBaseImages: {
    type: 'list',
    default: defaultImagePolicy.blockedBases,
    meaning:
      'Base images that may not run. A name matches every repository that ends in it, a name with a slash that ' +
      'repository only. none blocks nothing.',
  },
  allowedRegistries: {
    type: 'list',
    default: defaultImagePolicy.allowedRegistries,
    meaning: 'Hosts that images may come from; *.gcr.io matches every host below gcr.io, * every host.',
  },
  imagePolicyOnRest: {
    type: 'boolean',
    default: true,
    meaning:
      'Apply the image policy to writes of the HTTP API too. False: only to those of kubectl, as the original operator did.',
  },
  ...webhookConfig,
  webhookServiceName: { ...webhookConfig.webhookServiceName, default: OPERATOR },
  webhookSecret: { ...webhookConfig.webhookSecret, default: `${OPERATOR}-webhook` },
  webhookFailurePolicy: {
    clusterOnly: true,
    type: 'string',
    choices: ['Fail', 'Ignore'],
    default: 'Fail',
    meaning:
      'Treatment of writes to Applications while no replica answers: Fail refuses them, Ignore lets them through. ' +
      'Writes to other kinds never reach the webhooks. Ignore with `tenure start`.',
  },
  ...logConfig,
} as const satisfies Table

export type ApplicationsSettings = Values<typeof applicationsConfig>

/** Image policy of the settings. `none` stands for an empty list, because an environment variable cannot be empty. */
export function imagePolicyOf({
  blockedBaseImages,
  allowedRegistries,
}: Pick<ApplicationsSettings, 'blockedBaseImages' | 'allowedRegistries'>): ImagePolicy {
  return { blockedBases: blockedBaseImages.filter((name) => name !== 'none'), allowedRegistries }
}
