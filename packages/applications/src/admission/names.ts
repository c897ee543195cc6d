import { GROUP } from '../api/types.ts'

/** Of both webhooks, each in its own configuration. */
export const WEBHOOK_NAME = `applications.${GROUP}`
export const VALIDATE_PATH = '/validate'
export const MUTATE_PATH = '/mutate'
