-- Makes an Ardour session with one five-channel track: a sound file through a plug-in, whose orientation is automated.
-- For ardour7-lua: session.lua FOLDER SOUND FRAMES URI [FRAME VALUE]...
local folder, sound, frames, uri = arg[1], arg[2], tonumber(arg[3]), arg[4]
local channels = 5
-- The unit of positions in session files: parts of a second, per frame at 48 kHz.
local unit = 282240000 // 48000

local function edit_session()
  AudioEngine:set_backend("None (Dummy)", "", "")
  local session = assert(create_session(folder, "session", 48000))
  local tracks = session:new_audio_track(
    channels, 2, nil, 1, "array", -1, ARDOUR.TrackMode.Normal, true)
  for track in tracks:iter() do
    local plugin = ARDOUR.LuaAPI.new_plugin(session, uri, ARDOUR.PluginType.LV2, "")
    assert(not plugin:isnil(), "Ardour does not find the plug-in")
    assert(track:add_processor_by_index(plugin, 0, nil, true) == 0)
    -- Ardour keeps an output for each microphone, and would pan left and right to the middle.
    for port = channels - 1, 2, -1 do track:output():remove_port(track:output():audio(port), nil) end

    local control = 0
    local _, points, about = ARDOUR.LuaAPI.plugin_automation(plugin, control)
    while about.label ~= "Input orientation" do
      control = control + 1
      _, points, about = ARDOUR.LuaAPI.plugin_automation(plugin, control)
    end
    -- Otherwise Ardour passes through the orientations in between.
    points:set_interpolation(Evoral.InterpolationStyle.Discrete)
    for n = 5, #arg, 2 do
      points:add(Temporal.timepos_t(math.tointeger(tonumber(arg[n]))), tonumber(arg[n + 1]), false, true)
    end
    -- Controls are counted from the first port, audio ports included.
    local port = channels + 2 + control
    plugin:to_automatable():automation_control(
      Evoral.Parameter(ARDOUR.AutomationType.PluginAutomation, 0, port), false)
      :set_automation_state(ARDOUR.AutoState.Play)
  end
  session:save_state("")
end

edit_session()
-- Ardour's objects that Lua still refers to must go before the session.
collectgarbage()
close_session()

-- Ardour's Lua cannot import sound without the editor, so the region is written into the session's file.
local path = folder .. "/session.ardour"
local file = assert(io.open(path))
local text = file:read("a")
file:close()
local sources, names = "", ""
for n = 0, channels - 1 do
  local id = 900000 + n
  sources = sources .. string.format(
    '<Source name="array-%d" type="audio" flags="" id="%d" channel="%d" origin="%s" gain="1"/>', n, id, n, sound)
  names = names .. string.format(' source-%d="%d" master-source-%d="%d"', n, id, n, id)
end
local region = string.format(
  '<Region name="array" id="910000" type="audio" channels="%d" start="a0" length="a%d@a0" fade-in-active="0" fade-out-active="0"%s/>',
  channels, math.tointeger(frames * unit), names)
local count
text, count = text:gsub("<Sources/>", "<Sources>" .. sources .. "</Sources>")
assert(count == 1)
text, count = text:gsub("(<Playlist [^>]*)/>", "%1>" .. region .. "</Playlist>")
assert(count == 1)
file = assert(io.open(path, "w"))
file:write(text)
file:close()
