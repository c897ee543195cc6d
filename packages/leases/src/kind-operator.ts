import type { Component, OperatorContext } from '@tenure/runtime'
import { defineOperator } from '@tenure/runtime'
import { leaderName, leasesConfig, leaseSettings, reportLease } from './config.ts'
import { createKindController } from './controllers/lease/kind-controller.ts'
import { KIND_OPERATOR } from './rbac.ts'
import { createLeaseReporter } from './controllers/lease-controller/reporter.ts'

// A file of its own: one process runs per kind, and it has no use for the HTTP server that `operator.ts` loads.

/** Manages the leases of one kind, which its settings name. A LeaseController grants its permissions with the kind. */
export const leases = defineOperator({
  name: 'leases',
  summary: 'Manage the leases of one kind: delete objects when their TTL has passed.',
  identity: { name: KIND_OPERATOR, leaderLease: (settings) => leaderName(settings) },
  config: leasesConfig,
  setup({ settings: values }) {
    const { group, version, kind, concurrency } = values
    const settings = leaseSettings(values)
    const report = values.report === undefined ? undefined : reportLease(values.report)
    const create = (context: OperatorContext): Component => {
      const controller = createKindController(context, {
        kind: { group, version, kind },
        settings,
        concurrency,
        probe: true,
      })
      if (!report) return controller
      return together(controller, createLeaseReporter(context, { lease: report, read: () => controller }))
    }
    return { components: [{ stage: 'lead', create }] }
  },
})

/** Two components as one: the second depends on the first. */
function together(first: Component, second: Component): Component {
  return {
    name: first.name,
    start: async (signal) => {
      await first.start(signal)
      await second.start(signal)
    },
    stop: async (grace) => {
      await second.stop(grace)
      await first.stop(grace)
    },
  }
}
