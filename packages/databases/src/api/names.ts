/** Names the field manager, the reporter of Events and the leader Lease. */
export const OPERATOR = 'nest-controller'
export const LEADER_LEASE = 'nest-controller-leader'

export const APP_LABEL = 'app'
export const MANAGED_BY_LABEL = 'managed-by'
export const RESOURCE_ID_LABEL = 'resource-id'

/** Value of `resource_type` in audit rows. */
export const AUDITED_TABLE = 'resources'
