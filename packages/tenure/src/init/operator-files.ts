import type { NewOperatorNames } from './operator-name.ts'

/** The version of the packages that a new operator uses. */
export interface OperatorVersions {
  readonly tenure: string
  readonly vitest: string
  readonly typescript: string
  readonly nodeTypes: string
}

/** The package of the tests of new operators, as they import it: quoted. This package does not depend on it. */
const TEST_RUNNER = "'vitest'"

/** The files of a new operator: their paths and contents. */
export function operatorFiles(names: NewOperatorNames, versions: OperatorVersions): Readonly<Record<string, string>> {
  return {
    'package.json': packageFile(names, versions),
    'tsconfig.json': TSCONFIG,
    '.gitignore': 'node_modules/\n.data/\n',
    'README.md': readme(names),
    [`${names.name}.yaml`]: example(names),
    'src/api.ts': api(names),
    'src/controller.ts': controller(names),
    'src/operator.ts': operator(names),
    'src/operator.test.ts': operatorTest(names),
    'src/main.ts': main(names),
    'src/dev.ts': dev(names),
  }
}

function packageFile({ name }: NewOperatorNames, versions: OperatorVersions): string {
  const { nodeTypes, tenure, typescript, vitest } = versions
  const manifest = {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    engines: { node: '>=24.12' },
    scripts: {
      dev: 'node src/dev.ts',
      start: 'node src/main.ts',
      test: 'vitest run',
      check: 'tsc',
    },
    dependencies: { '@tenure/kube': tenure, '@tenure/runtime': tenure },
    devDependencies: { '@tenure/controlplane': tenure, '@types/node': nodeTypes, typescript, vitest },
  }
  return `${JSON.stringify(manifest, undefined, 2)}\n`
}

const TSCONFIG = `{
  "compilerOptions": {
    "target": "es2024",
    "lib": ["esnext"],
    "module": "nodenext",
    "types": ["node"],
    "strict": true,
    "noUncheckedIndexedAccess": true,
    "exactOptionalPropertyTypes": true,
    "erasableSyntaxOnly": true,
    "verbatimModuleSyntax": true,
    "allowImportingTsExtensions": true,
    "noEmit": true,
    "skipLibCheck": true
  },
  "include": ["src"]
}
`

function readme({ group, kind, name, plural }: NewOperatorNames): string {
  return `# ${name}

An operator that runs a Deployment for every \`${kind}\` (${group}/v1) and reports its state.

\`\`\`bash
npm test         # on the embedded control plane: no cluster, no containers
npm run dev      # the operator on an embedded control plane of its own
npm start        # the operator on the cluster of your kubeconfig
npm run check    # types
\`\`\`

With \`npm run dev\` running, in another terminal:

\`\`\`bash
export KUBECONFIG=$PWD/.data/kubeconfig
kubectl apply -f ${name}.yaml
kubectl get ${plural},deployments
\`\`\`

- \`src/api.ts\`: the kind and its CustomResourceDefinition, which the operator installs.
- \`src/controller.ts\`: what there must be for an object (\`plan\`), and what is reported (\`status\`). Both are pure functions.
- \`src/operator.ts\`: the operator, with the permissions that it needs.
`
}

function example({ group, kind, name }: NewOperatorNames): string {
  return `apiVersion: ${group}/v1
kind: ${kind}
metadata:
  name: my-${name}
spec:
  image: nginx:1.29
  replicas: 2
`
}

function api({ group, kind, name, plural, singular, variable }: NewOperatorNames): string {
  return `import { defineKind, type KubeObject } from '@tenure/kube'
import type { CustomResourceDefinition } from '@tenure/kube/kinds'

export interface ${kind} extends KubeObject {
  readonly spec: { readonly image: string; readonly replicas?: number }
  readonly status?: { readonly phase: 'Pending' | 'Running'; readonly readyReplicas: number }
}
export const ${kind} = defineKind<${kind}>({ apiVersion: '${group}/v1', kind: '${kind}', plural: '${plural}' })

/** Installed by the operator when it starts. */
export const ${variable}Definition: CustomResourceDefinition = {
  metadata: { name: '${plural}.${group}' },
  spec: {
    group: '${group}',
    scope: 'Namespaced',
    names: { kind: '${kind}', listKind: '${kind}List', plural: '${plural}', singular: '${singular}' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: 'Image', type: 'string', jsonPath: '.spec.image' },
          { name: 'Ready', type: 'integer', jsonPath: '.status.readyReplicas' },
          { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'A Deployment that ${name} keeps.',
            required: ['spec'],
            properties: {
              spec: {
                type: 'object',
                description: 'The Deployment, as its owner wants it.',
                required: ['image'],
                properties: {
                  image: { type: 'string', minLength: 1, description: 'Image of the container.' },
                  replicas: { type: 'integer', minimum: 0, maximum: 100, default: 1, description: 'Number of pods.' },
                },
              },
              status: {
                type: 'object',
                description: 'Written by the operator.',
                properties: {
                  phase: { type: 'string', enum: ['Pending', 'Running'], description: 'Running: all pods are ready.' },
                  readyReplicas: { type: 'integer', description: 'Number of ready pods.' },
                },
              },
            },
          },
        },
      },
    ],
  },
}
`
}

function controller({ group, kind, name, variable }: NewOperatorNames): string {
  return `import type { Stored } from '@tenure/kube'
import { Deployment } from '@tenure/kube/kinds'
import { apply, controller } from '@tenure/runtime'
import { ${kind} } from './api.ts'

/** \`plan\` says what there must be; the runtime applies only what differs. */
export const ${variable}Controller = controller(${kind}, {
  owns: [Deployment],
  plan: ({ object }) => [apply(Deployment, deploymentFor(object))],
  status({ object: { metadata, spec }, owned }): ${kind}['status'] {
    const readyReplicas = owned(Deployment, metadata.name)?.status?.readyReplicas ?? 0
    return { phase: readyReplicas >= (spec.replicas ?? 1) ? 'Running' : 'Pending', readyReplicas }
  },
})

export function deploymentFor({ metadata: { name }, spec }: Stored<${kind}>): Deployment {
  const labels = { '${group}/${name}': name }
  return {
    metadata: { name, labels },
    spec: {
      replicas: spec.replicas ?? 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: spec.image }] } },
    },
  }
}
`
}

function operator({ kind, name, variable }: NewOperatorNames): string {
  return `import { Deployment } from '@tenure/kube/kinds'
import { defineOperator, rule } from '@tenure/runtime'
import { ${kind}, ${variable}Definition } from './api.ts'
import { ${variable}Controller } from './controller.ts'

export const ${variable} = defineOperator({
  name: '${name}',
  crds: [${variable}Definition],
  rbac: {
    cluster: [
      rule(${kind}, ['get', 'list', 'watch']),
      rule(${kind}, ['patch'], 'status'),
      rule(Deployment, ['get', 'list', 'watch', 'create', 'patch']),
    ],
  },
  setup: () => ({ controllers: [${variable}Controller] }),
})
`
}

function operatorTest({ kind, name, variable }: NewOperatorNames): string {
  return `import { startControlPlane } from '@tenure/controlplane'
import { Client, mergePatch } from '@tenure/kube'
import { Deployment } from '@tenure/kube/kinds'
import { runOperators } from '@tenure/runtime'
import { expect, test } from ${TEST_RUNNER}
import { ${kind} } from './api.ts'
import { ${variable} } from './operator.ts'

const ref = { namespace: 'default', name: 'my-${name}' }
const POLL_OPTIONS = { timeout: 10_000 }

test('a ${kind} runs, and a change of its replicas reaches the Deployment', async () => {
  const controlPlane = await startControlPlane({ port: false })
  const { transport } = controlPlane
  const end = new AbortController()
  const running = runOperators({ operators: [${variable}], transport }, end.signal)
  const client = new Client({ transport })
  try {
    const create = () => client.create(${kind}, { metadata: ref, spec: { image: 'nginx', replicas: 2 } })
    // The operator installs the CustomResourceDefinition when it starts.
    await expect.poll(() => create().then(({ spec }) => spec.replicas, String), POLL_OPTIONS).toBe(2)
    const phase = async () => (await client.get(${kind}, ref)).status?.phase
    await expect.poll(phase, POLL_OPTIONS).toBe('Running')

    await client.patch(${kind}, ref, mergePatch({ spec: { replicas: 3 } }))
    const replicas = async () => (await client.get(Deployment, ref)).status?.readyReplicas
    await expect.poll(replicas, POLL_OPTIONS).toBe(3)
  } finally {
    end.abort()
    await running
    await controlPlane.stop()
  }
})
`
}

function main({ variable }: NewOperatorNames): string {
  return `// The operator on the cluster of the kubeconfig, or the one that it runs in.
import { asError } from '@tenure/kube'
import { createLogger, runOperators } from '@tenure/runtime'
import { ${variable} } from './operator.ts'

try {
  await runOperators({ operators: [${variable}], probes: ':8081', log: await createLogger() })
} catch (error) {
  process.exitCode = 1
  process.stderr.write(\`\${asError(error).message}\\n\`)
}
`
}

function dev({ name, variable }: NewOperatorNames): string {
  return `// The operator on an embedded control plane of its own, with its data in .data.
import { writeFileSync } from 'node:fs'
import { startControlPlane } from '@tenure/controlplane'
import { createLogger, runOperators } from '@tenure/runtime'
import { ${variable} } from './operator.ts'

const log = await createLogger({ level: 'warn' })
const controlPlane = await startControlPlane({ directory: '.data', log })
writeFileSync('.data/kubeconfig', controlPlane.kubeconfig ?? '', { mode: 0o600 })
const onReady = (): void => {
  console.log(\`${name} is ready. In another terminal:

  export KUBECONFIG=$PWD/.data/kubeconfig
  kubectl apply -f ${name}.yaml

Ctrl-C stops it.\`)
}
try {
  await runOperators({ operators: [${variable}], transport: controlPlane.transport, log, onReady })
} finally {
  await controlPlane.stop()
}
`
}
