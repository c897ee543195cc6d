export { annotationProblems, type AnnotationProblem, type Annotations } from './problems.ts'
export { leaseAnnotationsWebhook, type LeaseAdmissionOptions } from './webhook.ts'
