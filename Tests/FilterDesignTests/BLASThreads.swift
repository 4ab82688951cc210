import CLapack

func setBLASThreads(_ count: Int32) { openblas_set_num_threads(count) }
func blasThreads() -> Int32 { openblas_get_num_threads() }
