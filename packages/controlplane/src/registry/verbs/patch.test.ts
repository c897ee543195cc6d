import { strategicPatch } from '@tenure/kube'
import { Deployment } from '@tenure/kube/kinds'
import { expect, onTestFinished, test } from 'vitest'
import { TestControlPlane } from '../../testing/index.ts'

const ref = { name: 'web', namespace: 'default' }
const labels = { app: 'web' }

// The messages are those of kube-apiserver.
test.each([
  [{ spec: { replicas: 'three' } }, 'cannot convert string to int32'],
  [{ spec: { replicas: 1.5 } }, 'cannot convert int64 to int32'],
  [{ spec: { paused: 1 } }, 'cannot convert int64 to bool'],
  [{ spec: { strategy: 'Recreate' } }, 'cannot restore struct from: string'],
  [{ spec: { selector: { matchLabels: ['a'] } } }, 'cannot restore map from slice'],
])('a strategic patch of %j with a value of the wrong type is refused', async (body, message) => {
  const server = await TestControlPlane.start()
  onTestFinished(() => server.stop())
  const spec = { containers: [{ name: 'app', image: 'app:1' }] }
  await server.client.create(Deployment, {
    metadata: ref,
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  })
  await expect(server.client.patch(Deployment, ref, strategicPatch(body as object))).rejects.toMatchObject({
    status: 422,
    message: expect.stringContaining(message),
  })
})
