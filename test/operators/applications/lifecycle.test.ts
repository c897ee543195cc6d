import { Application } from '@tenure/applications'
import type { Stored } from '@tenure/kube'
import { jsonPatch, mergePatch } from '@tenure/kube'
import { ConfigMap, Deployment, HorizontalPodAutoscaler, Ingress, Job, Service } from '@tenure/kube/kinds'
import { expect, test } from 'vitest'
import { onEveryFloor } from '../../floors/index.ts'
import { create, IMAGE, isGone, runApplications, whenRunning } from './support.ts'

onEveryFloor('Applications', (floor) => {
  test('an Application rolls out, scales, is repaired, and is deleted with its children', async () => {
    const here = floor()
    const { api } = here
    const ref = { name: 'shop', namespace: await here.namespace('applications') }
    const operator = await runApplications(here, ref.namespace)
    const created = await create(here, ref, { replicas: 3, image: IMAGE })
    expect(created).toMatchObject({ spec: { strategy: 'RollingUpdate' } })

    const running = await whenRunning(here, ref)
    expect(running).toMatchObject({
      metadata: { generation: 1, finalizers: ['cloudnative.elide.dev/finalizer'] },
      status: { observedGeneration: 1, replicas: 3, readyReplicas: 3, phase: 'Running' },
    })
    expect(running.status?.conditions).toMatchObject([
      { type: 'Ready', status: 'True', reason: 'ReconciliationSucceeded', observedGeneration: 1 },
      { type: 'Progressing', reason: 'NewReplicaSetAvailable' },
    ])
    expect(await api.get(Deployment, ref)).toMatchObject({
      metadata: { ownerReferences: [{ kind: 'Application', name: 'shop', uid: created.metadata.uid }] },
      spec: { replicas: 3, template: { spec: { containers: [{ image: IMAGE }] } } },
    })

    // As kubectl scale and autoscalers do.
    await api.patch(Application, ref, mergePatch({ spec: { replicas: 5 } }), { subresource: 'scale' })
    expect((await whenRunning(here, ref)).status).toMatchObject({ observedGeneration: 2, readyReplicas: 5 })

    // Foreign fields stay; owned ones are restored.
    const drift = {
      metadata: { annotations: { 'someone.else/note': 'mine' } },
      spec: { replicas: 1, minReadySeconds: 1 },
    }
    await api.patch(Deployment, ref, mergePatch(drift))
    await here.until('the drift is repaired', async () => (await api.get(Deployment, ref)).spec?.replicas === 5)
    expect(await api.get(Deployment, ref)).toMatchObject({
      metadata: { annotations: { 'someone.else/note': 'mine' } },
      spec: { minReadySeconds: 1 },
    })
    const { uid } = (await api.get(Deployment, ref)).metadata
    await api.patch(Deployment, ref, jsonPatch([{ op: 'remove', path: '/metadata/ownerReferences' }]))
    await here.until('the Deployment is owned again', async () => {
      const { ownerReferences = [] } = (await api.get(Deployment, ref)).metadata
      return ownerReferences.some((owner) => owner.uid === created.metadata.uid)
    })
    await api.delete(Deployment, ref)
    await here.until('the Deployment is made again', async () => {
      const deployment = await api.get(Deployment, ref).catch(() => undefined)
      return deployment !== undefined && deployment.metadata.uid !== uid
    })
    await whenRunning(here, ref)

    await api.delete(Application, ref)
    await here.until('the Application is gone', () => isGone(api.get(Application, ref)))
    await here.until('the Deployment is gone', () => isGone(api.get(Deployment, ref)))
    await operator.stop()
  })

  test('optional fields create and remove children', async () => {
    const here = floor()
    const { api } = here
    const ref = { name: 'site', namespace: await here.namespace('applications') }
    const operator = await runApplications(here, ref.namespace)
    await create(here, ref, {
      replicas: 1,
      image: IMAGE,
      config: { COLOUR: 'blue' },
      ports: [{ port: 80, targetPort: 8080 }],
      ingress: { host: 'site.example.com' },
    })
    await whenRunning(here, ref)
    const template = (await api.get(Deployment, ref)).spec?.template
    const configName = template?.spec?.containers[0]?.envFrom?.[0]?.configMapRef?.name ?? ''
    const configRef = { name: configName, namespace: ref.namespace }
    expect((await api.get(ConfigMap, configRef)).data).toEqual({ COLOUR: 'blue' })
    expect((await api.get(Service, ref)).spec?.ports).toMatchObject([{ port: 80, targetPort: 8080 }])
    expect((await api.get(Ingress, ref)).spec?.rules).toMatchObject([{ host: 'site.example.com' }])

    // A changed configuration rolls the pods.
    await api.patch(Application, ref, mergePatch({ spec: { config: { COLOUR: 'red' } } }))
    await here.until('the pods are rolled', async () => {
      const { spec } = await api.get(Deployment, ref)
      return JSON.stringify(spec?.template) !== JSON.stringify(template)
    })
    await whenRunning(here, ref)

    await api.patch(
      Application,
      ref,
      jsonPatch([
        { op: 'remove', path: '/spec/config' },
        { op: 'remove', path: '/spec/ingress' },
        { op: 'remove', path: '/spec/ports' },
        { op: 'add', path: '/spec/autoscaling', value: { maxReplicas: 4, minReplicas: 2 } },
      ]),
    )
    await here.until('the Service is gone', () => isGone(api.get(Service, ref)))
    await here.until('the Ingress is gone', () => isGone(api.get(Ingress, ref)))
    await here.until('the ConfigMap is gone', () => isGone(api.get(ConfigMap, configRef)))
    const scaler = await here.until('there is an autoscaler', () =>
      api.get(HorizontalPodAutoscaler, ref).catch(() => undefined),
    )
    expect(scaler.spec).toMatchObject({ minReplicas: 2, maxReplicas: 4, scaleTargetRef: { name: 'site' } })

    // The autoscaler owns the replicas now.
    await api.patch(Deployment, ref, mergePatch({ spec: { replicas: 3 } }), { subresource: 'scale' })
    await here.until('three are ready', async () => (await api.get(Application, ref)).status?.readyReplicas === 3)
    await operator.stop()
  })

  test('an edit from one form of a field to another leaves nothing of the first', async () => {
    const here = floor()
    const { api } = here
    const ref = { name: 'forms', namespace: await here.namespace('applications') }
    const operator = await runApplications(here, ref.namespace)
    await create(here, ref, {
      replicas: 1,
      image: IMAGE,
      env: [
        { name: 'FORM', value: 'text' },
        { name: 'GONE', value: 'text' },
      ],
      ports: [{ name: 'http', port: 80 }],
      probes: { liveness: { httpGet: { port: 80 } }, readiness: { httpGet: { port: 'http' }, periodSeconds: 5 } },
      resources: { limits: { cpu: 1, memory: '1Gi' } },
    })
    await whenRunning(here, ref)
    const edit = [
      { op: 'replace', path: '/spec/strategy', value: 'Recreate' },
      {
        op: 'replace',
        path: '/spec/env',
        value: [{ name: 'FORM', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
      },
      { op: 'replace', path: '/spec/ports', value: [{ name: 'web', port: 80, targetPort: 8080 }] },
      { op: 'replace', path: '/spec/probes', value: { liveness: { tcpSocket: { port: 8080 } } } },
      { op: 'replace', path: '/spec/resources', value: { requests: { cpu: '500m' } } },
    ] as const
    await api.patch(Application, ref, jsonPatch(edit))
    await whenRunning(here, ref)
    const { strategy, template } = (await api.get(Deployment, ref)).spec ?? {}
    expect(strategy).toEqual({ type: 'Recreate' })
    const [container] = template?.spec?.containers ?? []
    expect(container?.env).toEqual([
      { name: 'FORM', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
    ])
    expect(container?.ports).toEqual([{ name: 'web', containerPort: 8080, protocol: 'TCP' }])
    expect(container?.livenessProbe).toMatchObject({ tcpSocket: { port: 8080 } })
    expect(container?.livenessProbe).not.toHaveProperty('httpGet')
    expect(container).not.toHaveProperty('readinessProbe')
    expect(container?.resources).toEqual({ requests: { cpu: '500m' } })
    expect((await api.get(Service, ref)).spec?.ports).toMatchObject([{ name: 'web', port: 80, targetPort: 8080 }])

    await api.patch(Application, ref, mergePatch({ spec: { strategy: 'RollingUpdate', probes: null, env: null } }))
    await whenRunning(here, ref)
    const after = (await api.get(Deployment, ref)).spec
    expect(after?.strategy).toMatchObject({ type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%' } })
    for (const field of ['env', 'livenessProbe']) expect(after?.template.spec?.containers[0]).not.toHaveProperty(field)
    await operator.stop()
  })

  test('a run Once completes, and a changed run starts again', async () => {
    const here = floor()
    const { api } = here
    const ref = { name: 'batch', namespace: await here.namespace('applications') }
    const operator = await runApplications(here, ref.namespace)
    const whenSucceeded = (generation: number): Promise<Stored<Application>> =>
      here.until(`generation ${generation} has succeeded`, async () => {
        const application = await api.get(Application, ref)
        const { phase, observedGeneration } = application.status ?? {}
        return phase === 'Succeeded' && observedGeneration === generation && application
      })
    await create(here, ref, { replicas: 2, image: IMAGE, run: 'Once' })
    expect((await whenSucceeded(1)).status?.conditions).toMatchObject([
      { type: 'Ready', status: 'True', reason: 'ReconciliationSucceeded' },
      { type: 'Progressing', reason: 'RunCompleted' },
    ])
    const first = await api.get(Job, ref)
    expect(first.status?.succeeded).toBe(2)
    // The deletion of the Job does not start the run again.
    await api.delete(Job, ref, { propagation: 'Background' })
    await here.until('the Job is gone', () => isGone(api.get(Job, ref)))
    const later = { ...ref, name: 'later' }
    await create(here, later, { replicas: 1, image: IMAGE })
    await whenRunning(here, later)
    expect(await isGone(api.get(Job, ref))).toBe(true)
    expect((await api.get(Application, ref)).status?.phase).toBe('Succeeded')

    await api.patch(Application, ref, mergePatch({ spec: { config: { RUN: '2' } } }))
    await whenSucceeded(2)
    const second = await api.get(Job, ref)
    expect(second.metadata.uid).not.toBe(first.metadata.uid)
    expect(second.status?.succeeded).toBe(2)
    await operator.stop()
  })

  test('a failed rollout shows its reason and recovers after a fix', async () => {
    const here = floor()
    const { api } = here
    const ref = { name: 'broken', namespace: await here.namespace('applications') }
    const operator = await runApplications(here, ref.namespace)
    const podAnnotations = { 'tenure.dev/simulate-pull-failure': 'true' }
    await create(here, ref, { replicas: 2, image: 'nginx:nope', podAnnotations })
    const failed = await here.until('it is Failed', async () => {
      const application = await api.get(Application, ref)
      return application.status?.phase === 'Failed' && application
    })
    const condition = failed.status?.conditions?.find(({ type }) => type === 'Ready')
    expect(condition).toMatchObject({ status: 'False' })
    expect(`${condition?.reason} ${condition?.message}`).toMatch(/ImagePullBackOff|ErrImagePull/)

    await api.patch(Application, ref, mergePatch({ spec: { image: IMAGE, podAnnotations: null } }))
    expect((await whenRunning(here, ref)).status).toMatchObject({ readyReplicas: 2 })
    await operator.stop()
  })

  test('a foreign object of the same name is left alone', async () => {
    const here = floor()
    const { api } = here
    const ref = { name: 'taken', namespace: await here.namespace('applications') }
    const labels = { app: 'other' }
    const foreign = await api.create(Deployment, {
      metadata: ref,
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'mine' }] } },
      },
    })
    const operator = await runApplications(here, ref.namespace)
    await create(here, ref, { replicas: 2, image: IMAGE })
    const failed = await here.until('it is Failed', async () => {
      const application = await api.get(Application, ref)
      return application.status?.phase === 'Failed' && application
    })
    expect(failed.status?.conditions).toMatchObject([
      { type: 'Ready', status: 'False', reason: 'ReconciliationFailed' },
      {},
    ])
    const deployment = await api.get(Deployment, ref)
    expect([deployment.metadata.uid, deployment.spec?.replicas]).toEqual([foreign.metadata.uid, 1])

    await api.delete(Application, ref)
    await here.until('the Application is gone', () => isGone(api.get(Application, ref)))
    expect((await api.get(Deployment, ref)).metadata.uid).toBe(foreign.metadata.uid)
    await operator.stop()
  })
})
