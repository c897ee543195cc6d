import { GROUP } from '../api/index.ts'

/** Of both webhooks, each in its own configuration. */
export const WEBHOOK_NAME = `applications.${GROUP}`
export const VALIDATE_PATH = '/validate'
export const MUTATE_PATH = '/mutate'
