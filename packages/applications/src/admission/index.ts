export { ApplicationAdmission, type ApplicationAdmissionOptions } from './admission.ts'
export { MUTATE_PATH, VALIDATE_PATH, WEBHOOK_NAME } from './names.ts'
export { reviewMutate, reviewValidate, type Reviewed } from './review.ts'
export type { AdmissionRules, WriterIdentity } from './validate.ts'
