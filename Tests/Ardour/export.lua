-- Exports an Ardour session's first frames from its master bus, as the format of float.preset, in blocks of a given length.
-- For ardour7-lua: export.lua FOLDER FRAMES BLOCK; writes FOLDER/export/export.wav
local folder, frames, block = arg[1], tonumber(arg[2]), tonumber(arg[3])
local backend = AudioEngine:set_backend("None (Dummy)", "", "")
backend:set_buffer_size(math.tointeger(block))
local session = assert(load_session(folder, "session"))
local export = session:simple_export()
assert(export:set_preset("8e1a9e8c-27fb-4f0d-8c4b-8d5f5d5e3c11"), "float.preset is not in Ardour's folder")
export:set_name("export")
export:set_folder(folder .. "/export")
export:set_range(0, math.tointeger(frames))
assert(export:run_export())
export, session, backend = nil, nil, nil
collectgarbage()
close_session()
