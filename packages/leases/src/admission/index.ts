export { leaseAdmissionTable } from './config.ts'
export { annotationProblems, type AnnotationProblem, type Annotations } from './problems.ts'
export { LEASE_OPERATOR, LEASE_WEBHOOK_SECRET, type LeaseAdmissionRules, leaseAdmissionRules } from './rbac.ts'
export { leaseAnnotationsWebhook, type LeaseAdmissionOptions } from './webhook.ts'
