import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { load, loadAll } from 'js-yaml'
import { expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '../../../..')

/** Runs `tenure` and returns its output and exit code. */
function tenure(
  ...args: readonly string[]
): Promise<{ readonly code: unknown; readonly stdout: string; readonly stderr: string }> {
  const command = ['packages/tenure/bin/tenure.mjs', ...args]
  return new Promise((resolve) => {
    execFile(process.execPath, command, { cwd: root, maxBuffer: 2 ** 24 }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    )
  })
}

const deployed = (...files: readonly string[]): readonly unknown[] =>
  files.flatMap((file) => loadAll(readFileSync(path.join(root, file), 'utf8')))

test.each([
  ['applications', ['deploy/applications.yaml']],
  ['claims', ['packages/claims/config/rbac/role.yaml', 'packages/claims/config/manager/deployment.yaml']],
  ['databases', ['deploy/databases.yaml']],
  ['lease-controllers', ['deploy/lease-controllers.yaml']],
  ['lease-admission', ['deploy/lease-admission.yaml']],
])('tenure manifests %s prints the objects of the repository, and says how to apply them', async (name, files) => {
  const { stdout } = await tenure('manifests', name)
  expect(loadAll(stdout)).toEqual(deployed(...files))
  expect(stdout).toContain(`  tenure manifests ${name} | kubectl apply -f -`)
})

test('tenure manifests prints all operators, with an image of the user', async () => {
  const { stdout } = await tenure('manifests', '-o', 'json', '--image', 'registry.example/tenure:1')
  const { items } = JSON.parse(stdout) as { readonly items: readonly { readonly kind: string }[] }
  const deployments = items.filter(({ kind }) => kind === 'Deployment')
  expect(deployments).toHaveLength(4)
  for (const each of deployments) expect(JSON.stringify(each)).toContain('"image":"registry.example/tenure:1"')
  expect(stdout).not.toMatch(/"(?:tenure|elide-operator):latest"/)
})

test('tenure crds prints the definitions of the repository', async () => {
  const files = [
    'deploy/crds/applications.cloudnative.elide.dev.yaml',
    'deploy/crds/leasecontrollers.object-lease-controller.ullberg.us.yaml',
  ]
  expect(loadAll((await tenure('crds')).stdout)).toEqual(deployed(...files))
  expect(load((await tenure('crds', 'applications')).stdout)).toEqual(deployed(...files)[0])
  expect((await tenure('crds', '-o', 'name')).stdout.split('\n')).toEqual([
    'customresourcedefinition.apiextensions.k8s.io/applications.cloudnative.elide.dev',
    'customresourcedefinition.apiextensions.k8s.io/leasecontrollers.object-lease-controller.ullberg.us',
    '',
  ])
  const none = await tenure('crds', 'claims')
  expect(none).toEqual({ code: 0, stdout: '', stderr: expect.stringContaining('no CustomResourceDefinitions') })
})

test('an unknown operator and an unknown format are usage errors', async () => {
  expect(await tenure('manifests', 'claim')).toMatchObject({
    code: 2,
    stderr: 'There is no manifest "claim". Did you mean claims?\n',
  })
  expect(await tenure('crds', '-o', 'table')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Allowed choices are yaml, json, name.'),
  })
})
