import { defineConfiguration, helpText, readConfiguration, referenceMarkdown } from '@tenure/runtime/configuration'
import { expect, test } from 'vitest'
import { applicationsConfig, imagePolicyOf, type ApplicationsSettings } from './config.ts'
import { defaultImagePolicy } from './admission/image-policy.ts'

const configuration = defineConfiguration({
  program: 'tenure applications',
  summary: 'Run the Applications operator.',
  options: applicationsConfig,
})

async function settings(
  environment: Readonly<Record<string, string>>,
  argv: readonly string[] = [],
): Promise<ApplicationsSettings> {
  const loaded = await readConfiguration(configuration, { argv, environment })
  if (loaded.kind !== 'values') throw new Error('help was printed')
  return loaded.values
}

test('the defaults are those of the seeds', async () => {
  const values = await settings({})
  expect(values).toMatchObject({
    port: 3000,
    enableLeaderElection: true,
    podName: undefined,
    readyzLeaderOnly: false,
    createNamespaces: false,
    eventHistoryLimit: 10_000,
    webhookFailurePolicy: 'Fail',
    imagePolicyOnRest: true,
  })
  expect(imagePolicyOf(values)).toEqual(defaultImagePolicy)
})

test('the environment variables of the seeds and of the operator are read', async () => {
  const values = await settings(
    {
      PORT: '8080',
      ENABLE_LEADER_ELECTION: 'false',
      POD_NAME: 'operator-1',
      READYZ_LEADER_ONLY: 'true',
      CREATE_NAMESPACES: 'true',
      EVENT_HISTORY_LIMIT: '5',
      BLOCKED_BASE_IMAGES: 'none',
      ALLOWED_REGISTRIES: 'quay.io, *.example.com',
      IMAGE_POLICY_ON_REST: 'false',
      WEBHOOK_FAILURE_POLICY: 'Ignore',
      AUTH: 'none',
    },
    ['--port', '0'],
  )
  expect(values).toMatchObject({
    port: 0,
    enableLeaderElection: false,
    podName: 'operator-1',
    readyzLeaderOnly: true,
    createNamespaces: true,
    eventHistoryLimit: 5,
    imagePolicyOnRest: false,
    webhookFailurePolicy: 'Ignore',
    auth: 'none',
  })
  expect(imagePolicyOf(values)).toEqual({ blockedBases: [], allowedRegistries: ['quay.io', '*.example.com'] })
})

test.each([
  [{ PORT: '70000' }, 'PORT'],
  [{ WEBHOOK_FAILURE_POLICY: 'Maybe' }, 'WEBHOOK_FAILURE_POLICY'],
  [{ EVENT_HISTORY_LIMIT: '0' }, 'EVENT_HISTORY_LIMIT'],
])('%o is refused with the name of the variable', async (environment, name) => {
  await expect(settings(environment)).rejects.toThrow(name)
})

test('the help and the reference list every setting', () => {
  for (const { flag, environment } of configuration.rows) {
    expect(helpText(configuration)).toContain(`${flag}`)
    expect(referenceMarkdown(configuration)).toContain(`\`${environment}\``)
  }
})
