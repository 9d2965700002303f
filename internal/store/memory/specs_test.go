package memory_test

import _ "soku/internal/tests" // registers the tests whose options and metrics are used here
