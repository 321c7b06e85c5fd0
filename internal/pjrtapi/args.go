package pjrtapi

// Function is a place in the table.
type Function int

// The functions that are called here, by their names in pjrt_c_api.h.
const (
	ErrorDestroy                  Function = 0
	ErrorMessage                  Function = 1
	ErrorCode                     Function = 2 // Error_GetCode
	PluginInitialize              Function = 3
	ClientCreate                  Function = 10
	ClientPlatformName            Function = 12
	ClientPlatformVersion         Function = 14
	ClientAddressableDevices      Function = 16
	ClientCompile                 Function = 20
	DeviceDescriptionKind         Function = 26
	DeviceDescription             Function = 29 // Device_GetDescription
	ExecutableDestroy             Function = 40
	ExecutableCodeBytes           Function = 45 // Executable_SizeOfGeneratedCodeInBytes
	ExecutableCost                Function = 46 // Executable_GetCostAnalysis
	ExecutableOptimized           Function = 48 // Executable_OptimizedProgram
	LoadedExecutableGetExecutable Function = 51
	LoadedExecutableExecute       Function = 55
	BufferDestroy                 Function = 58
	TopologyCreate                Function = 82 // TopologyDescription_Create
	Compile                       Function = 89
	ExecutableMemory              Function = 96 // Executable_GetCompiledMemoryStats
)

// Args begin each argument struct.
type Args struct {
	Size       uintptr
	Extensions uintptr
}

type (
	// HandleArgs are those of functions that take one thing, and may return one, or a number.
	HandleArgs struct {
		Args
		Of   uintptr
		Made uintptr // out
	}
	// TextArgs are those of functions that return a string of something.
	TextArgs struct {
		Args
		Of     uintptr
		Text   *byte // out
		Length uintptr
	}
	CodeArgs struct {
		Args
		Error uintptr
		Code  int32 // out
	}
	ClientArgs struct {
		Args
		Options   *NamedText
		Count     uintptr
		Callbacks [4]uintptr
		Client    uintptr // out
		More      [2]uintptr
	}
	DevicesArgs struct {
		Args
		Client  uintptr
		Devices *uintptr // out
		Count   uintptr
	}
	// Program is a program as text or bytes.
	Program struct {
		Args
		Code         *byte
		Length       uintptr
		Format       *byte
		FormatLength uintptr
	}
	OptimizedArgs struct {
		Args
		Executable uintptr
		Program    *Program
	}
	// ClientCompileArgs are those of Client_Compile.
	ClientCompileArgs struct {
		Args
		Client        uintptr
		Program       uintptr
		Options       *byte
		OptionsLength uintptr
		Executable    uintptr // out
	}
	// CompileArgs are those of Compile, for a topology.
	CompileArgs struct {
		Args
		Topology      uintptr
		Program       *Program
		Options       *byte
		OptionsLength uintptr
		Client        uintptr
		Executable    uintptr // out
	}
	TopologyArgs struct {
		Args
		Name     *byte
		Length   uintptr
		Options  *NamedText
		Count    uintptr
		Topology uintptr // out
	}
	CostArgs struct {
		Args
		Executable uintptr
		Count      uintptr // out
		Properties *NamedValue
	}
	// NamedValue is a value under a name.
	NamedValue struct {
		Args
		Name      *byte
		Length    uintptr
		Kind      int32
		Value     uint64 // a union
		ValueSize uintptr
	}
	// NamedText is a NamedValue that holds text.
	NamedText struct {
		Args
		Name      *byte
		Length    uintptr
		Kind      int32
		Value     *byte
		ValueSize uintptr
	}
	// MemoryArgs are in bytes.
	MemoryArgs struct {
		Args
		Executable                                  uintptr
		Code, Argument, Output, Alias, Temp         int64 // out
		HostCode, HostArg, HostOut, HostAlias, Host int64
		Peak, Total                                 int64
	}
	ExecuteArgs struct {
		Args
		Executable uintptr
		Options    uintptr
		Arguments  **uintptr // of each device
		Devices    uintptr
		Count      uintptr   // of arguments
		Outputs    **uintptr // of each device, out
		Complete   *uintptr  // events, of each device, out; nil for none
		Device     uintptr
	}
)

// NamedFloat is the kind of a NamedValue that holds a float32.
const NamedFloat = 3
