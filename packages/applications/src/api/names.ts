/** API group, and prefix of the operator's own annotations and finalizer. */
export const GROUP = 'cloudnative.elide.dev'
export const VERSION = 'v1'

/** Stays on an Application until its children are removed. */
export const FINALIZER = `${GROUP}/finalizer`

/** Value of the managed-by label, and reporting controller of events. */
export const OPERATOR = 'elide-operator'
/** Field manager of server-side apply. */
export const FIELD_MANAGER = OPERATOR
/** Name of the coordination Lease that the operator's replicas share. */
export const LEADER_LEASE = 'elide-operator-leader'
/** Name of the controller in logs and metrics. */
export const CONTROLLER_NAME = 'application-controller'
